/** The generated modules of the Python SDK, as texts. */
import type { Method, MethodTypes } from './methods.ts';
import { pascal, snake } from './names.ts';

const source = '`node scripts/docs.ts` writes this file from docs/reference/openapi.json.';

export interface ModuleTexts {
  readonly models: string;
  readonly params: string;
  /** The async form. */
  readonly operations: string;
  /** The same. */
  readonly resources: string;
}

export function moduleTexts(methods: readonly Method[], { replies, requests }: MethodTypes): ModuleTexts {
  const names = (classes: ReadonlyMap<string, string>): string =>
    `__all__ = [\n${[...classes.keys()]
      .toSorted()
      .map((name) => `    "${name}",\n`)
      .join('')}]\n`;
  const models = `"""What the API answers. A field or a word that is newer than this file is kept.\n\n${source}\n"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

${openAiImport(replies.classes)}from ._reply import Reply

${names(replies.classes)}

${[...replies.classes.values()].join('\n\n')}`;
  const params = `"""What requests hold: typed dictionaries.\n\n${source}\n"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Required, TypedDict

${names(requests.classes)}

${[...requests.classes.values()].join('\n\n')}`;
  return {
    models: trimmed(models),
    params: trimmed(params),
    operations: operationsText(methods, replies.classes),
    resources: resourcesText(methods),
  };
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
  return trimmed(`"""The methods that are one request each.\n\n${source}\n"""

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
`);
}

/** Resources of which a person wrote a part: their class and its module. */
const written: Readonly<Record<string, readonly [name: string, module: string]>> = {
  agents: ['AsyncAgents', 'agents'],
  channels: ['AsyncChannels', 'channels'],
  chat: ['AsyncChat', 'chat'],
  files: ['AsyncTransfers', 'transfers'],
  hooks: ['AsyncHooks', 'hooks'],
  ports: ['AsyncPorts', 'ports'],
  skills: ['AsyncSkills', 'skills'],
  snapshots: ['AsyncSnapshots', 'snapshots'],
  terminal: ['AsyncTerminals', 'terminal'],
  uploads: ['AsyncUploads', 'uploads'],
  usage: ['AsyncUsage', 'usage'],
  webhooks: ['AsyncWebhooks', 'hooks'],
};

/** A client's attributes, one for each resource. */
function resourcesText(methods: readonly Method[]): string {
  const names = [...new Set([...methods.map(({ resource }) => resource), ...Object.keys(written)])].toSorted();
  const imports = Map.groupBy(Object.values(written), ([, module]) => module);
  const lines = [...imports].map(([module, own]) => `from .${module} import ${own.map(([name]) => name).join(', ')}\n`);
  const attributes = names.map((name) => {
    const made = written[name]?.[0] ?? `made.Async${pascal(name)}Operations`;
    return `        self.${snake(name)} = ${made}(client)\n`;
  });
  return `"""The resources of the API, as attributes of a client.\n\n${source}\n"""

from __future__ import annotations

from . import operations as made
${lines.toSorted().join('')}from .client import AsyncTransport


class AsyncResources:
    def __init__(self, client: AsyncTransport) -> None:
${attributes.join('')}`;
}

const openAi = ['ChatChoice', 'ChatChunkChoice', 'ResponseOutput'];
const openAiImport = (classes: ReadonlyMap<string, string>): string => {
  const text = [...classes.values()].join('');
  const used = openAi.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
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
