/**
 * The generated parts of the Python SDK: the models and types of the API and the methods that are one request each, from the
 * OpenAPI document; and the sync form of what is written async.
 */
import { readdir, readFile } from 'node:fs/promises';
import { errorCodes, errorTypeOf } from '@lodge/domain';
import { operationsOf } from './python/document.ts';
import type { Document, Schema } from './python/document.ts';
import { className } from './python/names.ts';
import { hasMethod, methodsOf } from './python/methods.ts';
import { moduleTexts } from './python/modules.ts';
import { ReplyTypes, RequestTypes } from './python/types.ts';
import { syncForm } from './python/unasync.ts';

const folder = 'packages/sdk-python/src/lodge_agents';

/** Modules whose two forms a person wrote, or that are made above. */
const byHand = new Set(['__init__.py', 'operations.py', 'pages.py', 'resources.py', 'waiting.py']);

/** The text of each generated file, by its path in the repository. */
export async function pythonPages(openApi: string): Promise<Readonly<Record<string, string>>> {
  const document = JSON.parse(openApi) as Document;
  const { schemas } = document.components;
  const operations = operationsOf(document).filter(hasMethod);
  const [replies, requests] = [new ReplyTypes(schemas), new RequestTypes(schemas)];
  const given = reachable(
    operations.flatMap(({ reply, events }) => [reply, events]),
    schemas,
  );
  for (const name of given) replies.type(schemas[name]!, className(name));
  const methods = operations.flatMap((operation) => methodsOf(operation, { replies, requests }));
  const texts = moduleTexts(methods, { replies, requests });
  const pages: Record<string, string> = {
    [`${folder}/models.py`]: texts.models,
    [`${folder}/params.py`]: texts.params,
    [`${folder}/_codes.py`]: codesText(),
    [`${folder}/_async/operations.py`]: texts.operations,
    [`${folder}/_async/resources.py`]: texts.resources,
    [`${folder}/_sync/resources.py`]: syncForm(texts.resources, '').replace(/^#.*\n/, ''),
    [`${folder}/_sync/operations.py`]: syncForm(texts.operations, '').replace(/^#.*\n/, ''),
  };
  const root = new URL('../../', import.meta.url);
  for (const name of (await readdir(new URL(`${folder}/_async`, root))).toSorted()) {
    if (!name.endsWith('.py') || byHand.has(name)) continue;
    const source = await readFile(new URL(`${folder}/_async/${name}`, root), 'utf8');
    pages[`${folder}/_sync/${name}`] = syncForm(source, `_async/${name}`);
  }
  const tests = 'packages/sdk-python/tests';
  for (const name of (await readdir(new URL(tests, root))).filter((each) => /^test_\w+_async\.py$/.test(each))) {
    const source = await readFile(new URL(`${tests}/${name}`, root), 'utf8');
    pages[`${tests}/${name.replace('_async', '_sync')}`] = syncForm(source, name);
  }
  return pages;
}

/** Names of the components that these schemas hold. Lists are left out: a list is pages. */
function reachable(from: readonly unknown[], schemas: Readonly<Record<string, Schema>>): readonly string[] {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') {
        walk(value);
        continue;
      }
      const name = value.split('/').at(-1)!;
      if (found.has(name)) continue;
      found.add(name);
      walk(schemas[name]);
    }
  };
  walk(from);
  const isOwn = (name: string): boolean => !/(?:List|StreamEvent)$/.test(name) || name === 'ModelList';
  return Object.keys(schemas).filter((name) => found.has(name) && isOwn(name));
}

/** The status and type of each error code: an error that comes in a stream has no status of its own. */
function codesText(): string {
  const lines = Object.entries(errorCodes).map(
    ([code, { status }]) => `    "${code}": (${status}, "${errorTypeOf(status)}"),\n`,
  );
  return `"""The API's error codes, each with its status and type.\n\n\`node scripts/docs.ts\` writes this file.\n"""\n
from __future__ import annotations\n
from collections.abc import Mapping\n
ERROR_CODES: Mapping[str, tuple[int, str]] = {\n${lines.join('')}}\n`;
}
