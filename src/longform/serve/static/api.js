// The HTTP interface. Addresses are relative, so the page also works below a path of a larger site.

import { events } from "./sse.js";

const KEPT = "longform-token";
let wanted = async () => null;

/** An error with the one sentence that the page shows; `kind` is the server's, or "network", "broken", "token". */
export class ServerError extends Error {
  constructor(message, kind, retryAfter = null) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

/** Take `?token=` out of the address and keep it for this tab; `ask` is called where the server wants one. */
export function useToken(ask) {
  wanted = ask;
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  if (token === null) return;
  sessionStorage.setItem(KEPT, token);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
}

const authorization = () => {
  const token = sessionStorage.getItem(KEPT);
  return token ? { Authorization: `Bearer ${token}` } : {};
};

async function call(path, options = {}, again = true) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...options.headers, ...authorization() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The server cannot be reached: see whether longform serve still runs.", "network");
  }
  if (response.ok) return response;
  if (response.status === 401 && again) {
    const token = await wanted();
    if (token) {
      sessionStorage.setItem(KEPT, token);
      return call(path, options, false);
    }
  }
  throw await refused(response);
}

async function refused(response) {
  const retry = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  let said = {};
  try {
    said = (await response.json()).error ?? {};
  } catch {
    // Not from this server's own hand, a proxy's page perhaps.
  }
  const message = said.message ?? `The server answered ${response.status} ${response.statusText}`.trim() + ".";
  return new ServerError(message, response.status === 401 ? "token" : (said.type ?? "failure"), retry || null);
}

const json = async (path, options) => (await call(path, options)).json();

const sent = (method, body) => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

export const indexes = () => json("v1/indexes");
export const job = (id) => json(`v1/jobs/${encodeURIComponent(id)}`);
export const remove = (name) => call(`v1/indexes/${encodeURIComponent(name)}`, { method: "DELETE" });
export const past = (limit) => json(`v1/history?limit=${limit}`);
export const forget = () => call("v1/history", { method: "DELETE" });
export const rate = (body) => call("v1/feedback", sent("POST", body));

/** The whole answer with this id, which the server kept. */
export const kept = (id) => json(`v1/history/${encodeURIComponent(id)}`);

/** A document's text. */
export function sourceText(index, id) {
  // The parts of an id are parts of the path, except where the browser would take them for steps upwards.
  const parts = id.split("/");
  const steps = parts.some((part) => ["", ".", ".."].includes(part));
  const path = steps ? encodeURIComponent(id) : parts.map(encodeURIComponent).join("/");
  return json(`v1/indexes/${encodeURIComponent(index)}/documents/${path}`);
}

/**
 * Ask, and hand each event of the answer to `on[event]`. Comes back when the answer is whole; throws a ServerError of
 * kind "broken" where the stream ends before that.
 */
export async function ask(body, on, signal) {
  const options = sent("POST", { ...body, stream: true });
  options.headers.Accept = "text/event-stream";
  const response = await call("v1/ask", { ...options, signal });
  let whole = false;
  try {
    for await (const { event, data } of events(response.body)) {
      const value = JSON.parse(data);
      if (event === "error") throw new ServerError(value.message, value.type ?? "failure");
      on[event]?.(value);
      whole ||= event === "answer";
    }
  } catch (error) {
    if (error instanceof ServerError || error.name === "AbortError") throw error;
    if (whole) return;
    throw new ServerError("The connection to the server broke off: what was written until then is kept.", "broken");
  }
  if (!whole) throw new ServerError("The server stopped before the answer was whole: what was written is kept.", "broken");
}

/** Send files; `progress` hears the share that was sent. XMLHttpRequest, because fetch does not tell it. */
export function upload(name, files, dense, progress) {
  const form = new FormData();
  form.append("name", name);
  form.append("dense", String(dense));
  for (const file of files) form.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "v1/indexes");
    for (const [header, value] of Object.entries(authorization())) request.setRequestHeader(header, value);
    request.upload.addEventListener("progress", (event) => event.lengthComputable && progress(event.loaded / event.total));
    request.addEventListener("load", async () => {
      const response = new Response(request.responseText || "{}", {
        status: request.status,
        headers: { "Retry-After": request.getResponseHeader("Retry-After") ?? "" },
      });
      if (response.ok) resolve(await response.json());
      else reject(await refused(response));
    });
    request.addEventListener("error", () =>
      reject(new ServerError("The files did not reach the server: see whether longform serve still runs.", "network")),
    );
    request.send(form);
  });
}
