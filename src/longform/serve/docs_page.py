"""The OpenAPI description as a page: no script, and nothing from anywhere else, unlike the usual viewers."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

__all__ = ["docs_page"]


def docs_page(description: Mapping[str, Any]) -> str:
    """The page.

    >>> docs_page({"info": {"title": "A & B", "version": "1"}, "paths": {}}).count("A &amp; B")
    2
    """
    info = description["info"]
    title = escape(info["title"])
    sections = [
        _operation(method.upper(), path, operation, description)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="docs.css"></head><body><main>'
        f"<h1>{title} <small>{escape(info['version'])}</small></h1>"
        f"<p>{escape(info.get('description', ''))}</p>"
        '<p>For programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{''.join(sections)}</main></body></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    fields = [
        _field(one["name"], one["schema"], one.get("required", False), one.get("description", ""), description)
        for one in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content.get("schema", {}), description)
        fields.append(f'<tr><th colspan="3" scope="rowgroup">{escape(kind)}</th></tr>')
        fields += [
            _field(name, one, name in schema.get("required", ()), one.get("description", ""), description)
            for name, one in schema.get("properties", {}).items()
        ]
    replies = "".join(
        f"<dt>{escape(str(status))}</dt><dd>{escape(reply.get('description', ''))}</dd>"
        for status, reply in operation.get("responses", {}).items()
        if status != "422"
    )
    table = f"<table>{''.join(fields)}</table>" if fields else ""
    return (
        f"<section><h2><code>{method} {escape(path)}</code></h2><p>{escape(operation.get('summary', ''))}</p>"
        f"{table}<details><summary>Replies</summary><dl>{replies}</dl></details></section>"
    )


def _field(name: str, schema: Mapping[str, Any], required: bool, about: str, description: Mapping[str, Any]) -> str:
    need = " <em>required</em>" if required else ""
    return (
        f"<tr><td><code>{escape(name)}</code>{need}</td><td>{escape(_kind(schema, description))}</td>"
        f"<td>{escape(about)}</td></tr>"
    )


def _kind(schema: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(one, description) for one in schema["anyOf"] if one.get("type") != "null")
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), description)}"
    bounds = [f"{sign} {schema[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in schema]
    return " ".join([str(schema.get("type", "any value")), *bounds])


def _resolved(schema: Mapping[str, Any], description: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = description["components"]["schemas"][str(schema["$ref"]).rsplit("/", 1)[-1]]
    return found
