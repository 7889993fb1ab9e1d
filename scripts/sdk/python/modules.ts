/** The generated modules of the Python SDK, as texts. */
import type { Method, MethodTypes } from './methods.ts';
import { pascal, snake } from './names.ts';

const written = '`node scripts/docs.ts` writes this file from docs/reference/openapi.json.';

export interface ModuleTexts {
  readonly models: string;
  readonly params: string;
  /** The async form. */
  readonly operations: string;
}

export function moduleTexts(methods: readonly Method[], { replies, requests }: MethodTypes): ModuleTexts {
  const names = (classes: ReadonlyMap<string, string>): string =>
    `__all__ = [\n${[...classes.keys()]
      .toSorted()
      .map((name) => `    "${name}",\n`)
      .join('')}]\n`;
  const models = `"""What the API answers. A field or a word that is newer than this file is kept.\n\n${written}\n"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

${openAiImport(replies.classes)}from ._reply import Reply

${names(replies.classes)}

${[...replies.classes.values()].join('\n\n')}`;
  const params = `"""What requests hold: typed dictionaries.\n\n${written}\n"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Required, TypedDict

${names(requests.classes)}

${[...requests.classes.values()].join('\n\n')}`;
  return { models: trimmed(models), params: trimmed(params), operations: operationsText(methods, replies.classes) };
}

function operationsText(methods: readonly Method[], models: ReadonlyMap<string, string>): string {
  const resources = Map.groupBy(methods, ({ resource }) => resource);
  const classes = [...resources].map(
    ([resource, own]) =>
      `class Async${pascal(resource)}Operations(AsyncResource):\n${own.map(({ text }) => text).join('\n')}`,
  );
  const body = classes.join('\n\n');
  const used = [...models.keys()].filter((name) => new RegExp(`\\b${name}\\b`).test(codeOf(body))).toSorted();
  const decoders = ['chat_chunk', 'exec_event', 'lodge_event', 'log_entry', 'response_event'];
  return trimmed(`"""The methods that are one request each.\n\n${written}\n"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from .. import params
from .._events import ExecEvent, ResponseEvent, ${decoders.join(', ')}
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment, silence
from ..models import (
${used.map((name) => `    ${name},\n`).join('')})
from .client import AsyncResource
from .pages import AsyncPages
from .streams import AsyncStream


${body}
${resourcesNote([...resources.keys()])}`);
}

/** The resources' names, which the client has as attributes. */
const resourcesNote = (names: readonly string[]): string =>
  `\n\nRESOURCES = (\n${names.map((name) => `    "${snake(name)}",\n`).join('')})\n`;

const openAi = ['ChatChoice', 'ChatChunkChoice', 'ResponseOutput'];
const openAiImport = (classes: ReadonlyMap<string, string>): string => {
  const source = [...classes.values()].join('');
  const used = openAi.filter((name) => new RegExp(`\\b${name}\\b`).test(source));
  return used.length === 0 ? '' : `from ._openai import ${used.join(', ')}\n`;
};

/** Without docstrings, whose words are no names. */
const codeOf = (source: string): string =>
  source
    .split('"""')
    .filter((_, index) => index % 2 === 0)
    .join('');

const trimmed = (source: string): string =>
  `${source
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()}\n`;
