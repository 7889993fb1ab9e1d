/** Sends the requests of the OpenAPI document with its examples as their bodies. */
import assert from 'node:assert/strict';
import type { Answer } from '../api/world.ts';
import type { Operation, Schema } from './document.ts';

/** Values of the placeholders that examples and paths have. */
export type Values = Readonly<Record<string, string>>;

export interface Sent {
  readonly method: string;
  readonly path: string;
  /** Undefined where the operation has none; a text is sent as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Lists the bodies of an operation's examples; one undefined body where it takes none. */
export function examplesOf({ schema }: Operation): unknown[] {
  const [content] = Object.values<Schema>(schema.requestBody?.content ?? {});
  if (content === undefined) return [undefined];
  const { example, examples = {} } = content;
  return example === undefined ? Object.values<Schema>(examples).map(({ value }) => value) : [example];
}

/** The request of an operation with real ids, and its example with them in place of the document's. */
export function requestOf({ method, path }: Operation, example: unknown, values: Values): Sent {
  const target = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    // Members, skills and connections are all named by `name`.
    const of =
      name !== 'name' ? name : path.includes('/members/') ? 'member' : path.includes('/skills/') ? 'agentSkill' : name;
    const value = values[of];
    assert.ok(value, `${method} ${path} needs ${name}`);
    return value;
  });
  return { method, path: target, body: filled(example, values) };
}

/** The document's own placeholders, beside the id of an agent. */
const placeholders = {
  k7d2m9q4x1ab: 'id',
  '<TOKEN>': 'token',
  K7QM2X: 'approval',
  '123456': 'code',
  '<DEVICE_CODE>': 'device_code',
  'BCDF-GHJK': 'user_code',
  'MNPQ-RSTV': 'user_code',
  '<CLIENT_ID>': 'client_id',
  '<CODE>': 'authorization_code',
  '<CODE_VERIFIER>': 'code_verifier',
  '<REFRESH_TOKEN>': 'refresh_token',
} as const;

function filled(example: unknown, values: Values): unknown {
  if (example === undefined || typeof example === 'string') return example;
  let text = JSON.stringify(example);
  for (const [placeholder, name] of Object.entries(placeholders)) {
    const value = values[name];
    if (value !== undefined) text = text.replaceAll(`"${placeholder}"`, JSON.stringify(value));
  }
  // A file in parts is as long as the one part that was sent.
  return JSON.parse(text.replace('"size":1073741824', `"size":${values['size']}`)) as unknown;
}

/** Says how an answer is no success, or not the refusal (status and code) that is expected; null where it is as it should be. */
export function surprise(answer: Answer, expected: readonly unknown[] | undefined): string | null {
  const { status, body, text } = answer;
  const isRight = expected ? status === expected[0] && body?.error?.code === expected[1] : status < 300;
  return isRight ? null : `${status} ${text.slice(0, 300)}`;
}
