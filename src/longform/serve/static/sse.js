// Server-sent events from the body of a POST, which EventSource cannot read.

/** The events of a response, each {event, data}, as they come; ends when the server closes the stream. */
export async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line end: it waits for what comes.
      const whole = done ? rest : rest.replace(/\r$/, "");
      const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/);
      rest = blocks.pop() + rest.slice(whole.length);
      for (const block of blocks) {
        const found = parsed(block);
        if (found) yield found;
      }
      // What is left at the end is an event that was cut off: it is no event.
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** One block of lines as {event, data}; null where it holds only comments. */
export function parsed(block) {
  let event = "message";
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return data.length ? { event, data: data.join("\n") } : null;
}
