/** `lodge api`: any request of the API, for what has no command of its own. */
import type { Command } from 'commander';
import { Argument } from 'commander';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';

import type { On, Run } from '../../run.ts';
import { SafeStream, safeJson } from '../../terminal/safe.ts';
import { pairs, readText, several } from '../../values.ts';

interface ApiOptions {
  readonly field?: Readonly<Record<string, string>>;
  readonly typedField?: Readonly<Record<string, string>>;
  readonly header?: readonly string[];
  readonly input?: string;
}

type QueryValue = string | number | boolean | null | Readonly<Record<string, unknown>>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export default function api(command: Command, on: On): void {
  command
    .addArgument(new Argument('<method>', 'method of the request').choices(methods).argParser(methodOf))
    .argument('<path>', 'path, such as /v1/agents')
    .option('-f, --field <name=value>', 'a text: of the query with GET and DELETE, else of the body', pairs)
    .option('-F, --typed-field <name=value>', 'the same as JSON: a number, true, null, an object', pairs)
    .option('-H, --header <name: value>', 'a header of the request; several times for several', several)
    .option('--input <path>', 'send this file as the body, - for stdin');
  examples(
    command,
    ['lodge api GET /v1/agents -f status=running', 'list agents'],
    ['lodge api POST /v1/agents/k7d2m9q4x1ab/exec -f command="df -h"', 'send fields of a JSON body'],
    ['lodge api PATCH /v1/agents/k7d2m9q4x1ab --input change.json', 'send a file'],
    ['lodge api GET /v1/openapi.json', 'print the description of the whole API'],
  ).action(on(send));
}

function methodOf(given: string): string {
  const method = given.toUpperCase();
  if (!methods.includes(method)) throw usageError(`The method must be one of ${methods.join(', ')}.`);
  return method;
}

async function send(run: Run, options: ApiOptions, method: string, path: string): Promise<void> {
  const fields: Record<string, QueryValue> = { ...options.field, ...typed(options.typedField ?? {}) };
  const isQuery = method === 'GET' || method === 'DELETE';
  const hasFields = Object.keys(fields).length > 0;
  if (options.input !== undefined && hasFields && !isQuery)
    throw usageError('--input and fields cannot both be given.');
  const body =
    options.input !== undefined
      ? jsonOf(await readText(run, options.input))
      : hasFields && !isQuery
        ? fields
        : undefined;
  const lodge = await run.anyLodge();
  const reply = await lodge.request(method, pathOf(path), {
    ...run.call,
    stream: true,
    headers: headersOf(options.header ?? []),
    ...(isQuery && hasFields && { query: fields }),
    ...(body !== undefined && { body }),
  });
  await show(run, reply);
}

/** Prints a reply: JSON laid out, events as they come, and anything else as it is, but never to a terminal. */
async function show({ out }: Run, reply: Response): Promise<void> {
  const type = reply.headers.get('content-type') ?? '';
  if (type.includes('json')) {
    const text = await reply.text();
    return out.write(`${safeJson(JSON.parse(text), 2)}\n`);
  }
  const isText = type.startsWith('text/');
  const safe = new SafeStream();
  const decoder = new TextDecoder();
  for await (const chunk of (reply.body ?? []) as AsyncIterable<Uint8Array>) {
    if (isText) out.write(safe.push(decoder.decode(chunk, { stream: true })));
    else if (out.isTty) throw usageError('The reply is no text.', 'Write it into a file: lodge api ... > FILE');
    else out.write(chunk);
  }
  if (isText) out.write(safe.end());
}

/** Takes a path with and without /v1. */
function pathOf(given: string): string {
  const path = given.startsWith('/') ? given : `/${given}`;
  return path === '/v1' || path.startsWith('/v1/') ? path : `/v1${path}`;
}

function typed(fields: Readonly<Record<string, string>>): Record<string, QueryValue> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, jsonOf(value, `The field ${name}`) as QueryValue]),
  );
}

function jsonOf(text: string, what = 'The body'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${what} is not JSON.`);
  }
}

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const at = each.indexOf(':');
      if (at < 1) throw usageError('A header is a name, a colon and a value.');
      return [each.slice(0, at).trim(), each.slice(at + 1).trim()];
    }),
  );
}
