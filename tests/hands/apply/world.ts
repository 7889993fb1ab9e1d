/** A deployment, and people who keep agents in files. */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from '../cli/command.ts';
import type { Person, Result } from '../cli/command.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

/** Secrets that must be nowhere but at the API. They end like the marks that are shown. */
export const marked = {
  KEY: 'sk-ant-marked-0123456789abcdef-9f2c',
  OTHER: 'sk-ant-marked-abcdef0123456789-77aa',
};

/** A bot of its own for each: a token is used by one agent alone. */
const newToken = (): string => `${randomInt(1e9, 9e9)}:marked-telegram-token-31d0`;
export const markedToken = ':marked-telegram-token-31d0';

export const openApplyWorld = (): Promise<World> =>
  openWorld({ withGuest: true, kinds: ['runtime_a', 'runtime_b'], maxAgents: 200, maxRunning: 200 });

export interface Keeper {
  readonly person: Person;
  readonly proxy: Proxy;
  readonly accountId: string;
  readonly key: string;
  readonly token: string;
  /** Runs the command with the secrets in its environment, and notes all that it printed. */
  readonly lodge: (...args: readonly string[]) => Promise<Result>;
  readonly write: (name: string, text: string) => Promise<void>;
  readonly path: (name: string) => string;
  readonly close: () => Promise<void>;
}

/** Somebody with an account of their own, behind a proxy of their own. */
export async function newKeeper(world: World, printed: string[] = []): Promise<Keeper> {
  const accountId = await world.newAccount();
  const key = await world.keyOf(accountId);
  const token = newToken();
  const proxy = await startProxy(world.url);
  const person = await newPerson({ LODGE_URL: proxy.url, LODGE_API_KEY: key, ...marked, TOKEN: token });
  const path = (name: string): string => join(person.home, name);
  return {
    person,
    proxy,
    accountId,
    key,
    token,
    path,
    async lodge(...args) {
      const result = await person.lodge(args);
      printed.push(result.stdout, result.stderr);
      return result;
    },
    write: (name, text) => writeFile(path(name), text),
    async close() {
      await proxy.close();
      await person.remove();
    },
  };
}

/** One agent with something of everything. */
export const whole = `
version: 1
labels: {team: support}
agents:
  - name: ada
    runtime: openclaw
    model: anthropic/claude-sonnet-5
    description: Answers questions
    lifecycle: {idle_timeout_seconds: 600}
    spend_limit: {daily_usd: '10.50', action: block}
    egress: {mode: allowlist, allow: [Example.com, 1.2.3.4]}
    packages: {apt: [jq], pip: [pandas==2.3.1]}
    peers: [grace]
    metadata: {ticket: '4711'}
    instructions: {file: ada.md}
    llm_keys: {anthropic: {env: KEY}}
    members: [{name: bob, instructions: Be kind.}]
    channels: {telegram: {botToken: {env: TOKEN}, enabled: false, access: {mode: allowlist, allow_from: ['1', '2']}}}
    connections:
      code:
        kind: http
        url: https://api.example.com
        headers: {Authorization: {env: KEY, prefix: 'Bearer '}}
        allow: [{methods: [GET], paths: ['/*']}]
    confirmations: {rules: [{on: 'connection:code', match: POST *, policy: ask}, {on: messages, policy: ask}], expires: 1h}
    schedules: [{name: daily, cron: 0 9 * * *, prompt: Say hello., time_zone: Europe/Berlin}]
    hooks: [{name: issues, template: 'An issue: {{title}}', signature: {type: github, secret: {env: KEY}}}]
    ports: [{port: 3000, public: true}]
  - name: grace
    runtime: hermes
    model: claude-sonnet-5
    llm_keys: {anthropic: {env: OTHER}}
webhooks: [{url: https://example.com/events, events: [agent.*]}]
`;
