import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ChatQuery,
  CreateAgent,
  GetAgentQuery,
  ListAgentsQuery,
  NoBody,
  NoQuery,
  WaitQuery,
} from './agents/agent-requests.ts';
import { UpdateAgent } from './agents/agent-update.ts';
import { AgentChat, ModelChat } from './chat/chat.ts';
import { LogsQuery } from './events/logs.ts';

interface Node {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: unknown;
  readonly maxLength?: number;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
}

/** Every schema within, with its path. */
function* nodesOf(node: Node, path: string): Generator<[string, Node]> {
  yield [path, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* nodesOf(child, `${path}.${name}`);
  if (node.items) yield* nodesOf(node.items, `${path}[]`);
}

const requests = {
  CreateAgent,
  UpdateAgent,
  GetAgentQuery,
  ListAgentsQuery,
  LogsQuery,
  WaitQuery,
  ChatQuery,
  NoQuery,
  NoBody,
  AgentChat,
  ModelChat,
};
const nodes = Object.entries(requests).flatMap(([name, schema]) => [...nodesOf(schema as Node, name)]);

test('every object in a request says whether it takes unknown fields: none drops a typo in silence', () => {
  for (const [path, { type, additionalProperties }] of nodes) {
    if ([type].flat().includes('object')) assert.notEqual(additionalProperties, undefined, path);
  }
});

test('every text in a request is bounded and can be stored', () => {
  for (const [path, { type, enum: values, maxLength, pattern }] of nodes) {
    if (![type].flat().includes('string') || values) continue;
    assert.ok(maxLength !== undefined && pattern !== undefined, path);
  }
});
