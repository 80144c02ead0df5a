"""Images between the providers' spellings. What is no image has no translation here."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lossless_claw.model import Raw, Shape
from lossless_claw.shapes.block import Media

TAKEN = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
"""The image types that every provider takes."""


class Image(Struct, frozen=True):
    """An image as base64 text of a known type, or as a link."""

    mime: str | None = None
    data: str | None = None
    url: str | None = None


def translate(media: Media, shape: Shape) -> Raw | None:
    """Return *media* as a block of *shape*, or None when it cannot be one."""
    image = _read(media.raw) if media.kind in ("image", "input_image") else None
    if image is None:
        return None
    if image.data is not None:
        return _data_block(image, shape)
    return None if image.url is None else _link_block(image.url, shape)


def _data_block(image: Image, shape: Shape) -> Raw | None:
    if image.mime not in TAKEN:
        return None
    if shape is Shape.OPENCLAW:
        return {"type": "image", "data": image.data, "mimeType": image.mime}
    if shape is Shape.ANTHROPIC:
        source = {"type": "base64", "media_type": image.mime, "data": image.data}
        return {"type": "image", "source": source}
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{image.data}"}}


def _link_block(url: str, shape: Shape) -> Raw | None:
    if shape is Shape.ANTHROPIC:
        return {"type": "image", "source": {"type": "url", "url": url}}
    return {"type": "image_url", "image_url": {"url": url}} if shape is Shape.OPENAI else None


def _read(raw: Raw) -> Image | None:
    linked = raw.get("image_url")
    if linked is not None:
        return _of_link(linked.get("url") if isinstance(linked, dict) else linked)
    source = raw.get("source")
    if not isinstance(source, dict):
        return _of_data(raw.get("mimeType"), raw.get("data"))
    if source.get("type") == "url":
        return _of_link(source.get("url"))
    return _of_data(source.get("media_type"), source.get("data"))


def _of_data(mime: Any, data: Any) -> Image | None:
    if isinstance(mime, str) and isinstance(data, str) and data:
        return Image(mime=mime, data=data)
    return None


def _of_link(url: Any) -> Image | None:
    if not isinstance(url, str) or not url:
        return None
    if not url.startswith("data:"):
        return Image(url=url)
    head, _, data = url[5:].partition(",")
    mime, _, coding = head.partition(";")
    return _of_data(mime, data) if coding.endswith("base64") else None
