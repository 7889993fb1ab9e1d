/** The Lodge that snippets speak to, and the values that stand for a reader's own. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { defaultAccess } from '@lodge/domain';
import type { GmailConsent } from '@lodge/ports';
import { startOAuthServer } from '../../../packages/connections/src/testing/oauth-server.ts';
import type { OAuthServer } from '../../../packages/connections/src/testing/oauth-server.ts';
import { FakeCheck } from '../../../packages/testkit/src/plane/channels.ts';
import { RelayHand } from '../../../packages/testkit/src/plane/relay-hand.ts';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { Client } from '../../e2e/contract/states.ts';

/** Variables that a page's reader has, and texts in its blocks that stand for others. */
export interface Facts {
  readonly variables?: Readonly<Record<string, string>>;
  readonly texts?: Readonly<Record<string, string>>;
  /** A shell block that the reader has run before, on another page. */
  readonly first?: string;
  /** Lines of the reader’s own program around the snippets of a language. */
  readonly before?: { readonly js?: string; readonly python?: string };
  readonly after?: { readonly js?: string };
  /** Further variables, which a reader takes from what a shell block printed. */
  readonly read?: (output: string) => Readonly<Record<string, string>>;
}

/** Google, as far as a consent begins there. */
const gmail: GmailConsent = {
  scopes: ['mail'],
  authorizationUrl: ({ state }) => `https://google.example/consent?state=${state}`,
  exchange: () => Promise.reject(new Error('nobody consents here')),
};

export class Place {
  readonly world: World;
  readonly client: Client;
  private readonly oauth: OAuthServer;
  private agentId: string | null = null;

  private constructor(world: World, oauth: OAuthServer) {
    this.world = world;
    this.client = new Client(world);
    this.oauth = oauth;
  }

  static async open(): Promise<Place> {
    const world = await openWorld({
      withGuest: true,
      kinds: ['runtime_a', 'runtime_b'],
      relays: new FakeCheck(),
      gmail,
      settings: { LODGE_CONNECTION_ADDRESSES: 'any' },
    });
    return new Place(world, await startOAuthServer({ tools: () => [] }));
  }

  /** The agent of the page: the next one where it was deleted. */
  async agent(): Promise<string> {
    const { status } =
      this.agentId === null ? { status: 404 } : await this.client.call('GET', `/agents/${this.agentId}`);
    if (status === 404) this.agentId = await this.client.agent('running');
    return this.agentId!;
  }

  /** Makes an agent that is unlike others the one of the page. */
  async use(fields: object): Promise<string> {
    return (this.agentId = await this.client.agent('running', fields));
  }

  /** Begins a page with an agent of its own. */
  async begin(file: string): Promise<Facts> {
    this.agentId = null;
    return (await preparations[file]?.(this)) ?? {};
  }

  /** Removes the page's agents: a bot of a platform belongs to one alone. */
  async end(): Promise<void> {
    for (const { id } of (await this.client.call('GET', '/agents?limit=100')).body.data) {
      await this.client.call('DELETE', `/agents/${id}`);
    }
  }

  /** The block as this reader would write it. */
  async filled(text: string, facts: Facts): Promise<string> {
    const { url, key } = this.world;
    let filled = text;
    const texts: Readonly<Record<string, string>> = {
      ...facts.texts,
      'http://127.0.0.1:8080': url,
      'https://lodge.example.com': url,
      'wss://lodge.example.com': url.replace('http', 'ws'),
      'https://mcp.example.com/mcp': this.oauth.url,
      'lodge_live_...': key,
      '…': 'x',
    };
    for (const [placeholder, value] of Object.entries(texts)) filled = filled.replaceAll(placeholder, value);
    if (/<agent id>|<id>|\$AGENT\b/.test(filled)) {
      const id = await this.agent();
      filled = filled.replaceAll(/<agent id>|<id>/g, id);
    }
    assert.doesNotMatch(filled.replaceAll(/#.*$/gm, ''), /<[a-z ]+>/, 'a placeholder that nobody fills');
    return filled;
  }

  variables(): Record<string, string> {
    const { url, key } = this.world;
    return {
      LODGE: `${url}/v1`,
      BASE: `${url}/v1`,
      KEY: key,
      LODGE_URL: url,
      LODGE_API_KEY: key,
      LODGE_KEYRING: 'off',
    };
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.oauth.close();
  }
}

type Prepare = (place: Place) => Promise<Facts>;

async function made(place: Place, path: string, body: object): Promise<any> {
  const answer = await place.client.call('POST', path, body);
  assert.ok(answer.status < 300, answer.text);
  return answer.body;
}

/** An event as a webhook's server gets it. */
function signedEvent() {
  const key = Buffer.alloc(24, 7);
  const event = { id: '1', type: 'agent.paused', created_at: '2026-11-22T10:15:00.123Z', agent_id: 'k7d2m9q4x1ab' };
  const body = JSON.stringify({ object: 'event', ...event, data: { cause: 'idle' } });
  const [id, time] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
  return { body, headers, secret: `whsec_${key.toString('base64')}` };
}

/** Somebody unknown has written to the agent on the channel, and was told a code. */
const codeOf =
  (channel: 'telegram' | 'slack' | 'discord'): Prepare =>
  async (place) => {
    const { store, accountId } = place.world;
    const id = await place.agent();
    const relay = await RelayHand.of(store, accountId, id, { ...defaultAccess }, channel);
    await relay.write('hello', { sender: 'eve' });
    const { body } = await place.client.call('GET', `/agents/${id}/channels/${channel}/approvals`);
    return { texts: { '<code>': body.data[0].code } };
  };

/** An agent, and the conversation that somebody has written in. */
const agentInConversation: Prepare = async (place) => {
  const id = await place.agent();
  const relay = await RelayHand.of(place.world.store, place.world.accountId, id);
  await relay.write('hello', { conversation: '4711' });
  return { variables: { AGENT: id }, texts: { '"conversation": "8127361"': '"conversation": "4711"' } };
};

/** Gives the readers of a page the records that its snippets name. */
const preparations: Readonly<Record<string, Prepare>> = {
  'docs/guides/cli.md': async () => ({
    first: 'for name in home work; do lodge login --context $name --url $LODGE_URL --with-key <key.txt; done',
  }),
  'docs/guides/agents-as-files.md': async () => ({
    variables: { ANTHROPIC_API_KEY: 'sk-ant-1' },
    first:
      'mkdir workspace agents; echo Hello >workspace/a.md; echo "You are Ada." >ada.md; echo "version: 1" >agents/a.yaml',
    // The first asks, and nobody is there to answer. With a plan the command says by 8 that changes are pending.
    texts: {
      'lodge apply -f agents.yaml          #': 'lodge apply -f agents.yaml --yes #',
      '--plan   #': '--plan || [ $? = 8 ] #',
    },
  }),
  'docs/guides/channels/telegram.md': codeOf('telegram'),
  'docs/guides/channels/slack.md': codeOf('slack'),
  'docs/guides/channels/discord.md': codeOf('discord'),
  'docs/guides/agent-tools.md': async (place) => ({ texts: { k7d2m9q4x1ab: await place.client.agent('running') } }),
  async 'docs/guides/addresses.md'(place) {
    await place.use({ runtime_kind: 'runtime_b', model: 'claude-sonnet-5', dashboard: true });
    return {};
  },
  async 'docs/guides/schedules.md'(place) {
    const relay = await RelayHand.of(place.world.store, place.world.accountId, await place.agent());
    await relay.write('hello', { conversation: '4711' });
    const { id } = await made(place, `/agents/${await place.agent()}/schedules`, {
      name: 'S',
      every: '1h',
      prompt: 'x',
    });
    return { variables: { SCHEDULE: id } };
  },
  async 'docs/guides/confirmations.md'(place) {
    const id = await place.agent();
    const relay = await RelayHand.of(place.world.store, place.world.accountId, id);
    await relay.write('hello', { conversation: '4711' });
    const allow = [{ methods: ['GET', 'POST', 'DELETE'], paths: ['/*'] }];
    await place.client.call('PUT', `/agents/${id}/connections/shop`, {
      kind: 'http',
      url: 'https://shop.example.com/v1',
      allow,
    });
    return { variables: { AGENT: id }, texts: { '"conversation": "8127361"': '"conversation": "4711"' } };
  },
  'docs/guides/github-agent.md': agentInConversation,
  'docs/guides/report-behind-a-login.md': agentInConversation,
  async 'docs/guides/skills.md'(place) {
    await place.use({ name: 'ada' });
    return {};
  },
  async 'docs/guides/inbound-hooks.md'(place) {
    const id = await place.agent();
    await place.client.call('PUT', `/agents/${id}/files/triage.md`, 'Triage');
    const relay = await RelayHand.of(place.world.store, place.world.accountId, id);
    await relay.write('hello', { conversation: '4711' });
    return {
      variables: { CHAT: '4711' },
      read: (output) => (output.includes('"url"') ? { HOOK: JSON.parse(output).id, URL: JSON.parse(output).url } : {}),
    };
  },
  async 'docs/guides/snapshots.md'() {
    // The first command makes the snapshot that the others name.
    const made = /^\{"object":"snapshot","id":"([a-z0-9]{12})"/;
    return { variables: {}, read: (output) => ({ ...(made.test(output) && { SNAPSHOT: made.exec(output)![1]! }) }) };
  },
  async 'docs/guides/webhooks.md'(place) {
    const { id } = await made(place, '/webhooks', { url: 'https://example.com/', events: ['*'] });
    const { body, headers, secret } = signedEvent();
    return {
      variables: { WEBHOOK: id, LODGE_WEBHOOK_SECRET: secret },
      before: { js: `const rawBody = ${JSON.stringify(body)}; const request = ${JSON.stringify({ headers })};` },
    };
  },
  'packages/sdk/README.md': async () => {
    const { body, headers, secret } = signedEvent();
    return {
      variables: { LODGE_WEBHOOK_SECRET: secret, ANTHROPIC_API_KEY: 'sk-ant-1' },
      first: 'mkdir -p project/out; echo Hello >project/out/a.txt',
      // It goes on without an end.
      texts: {
        'of lodge.channels.pairWhatsApp(agent.id)) console.log(status, qr);': 'of []) console.log(status, qr);',
        'of lodge.events.follow()) console.log(event.type, event.agent_id);':
          'of lodge.events.follow()) { console.log(event.type); break; }',
      },
      before: {
        js: `const payload = ${JSON.stringify(body)}; const body = payload; const headers = ${JSON.stringify(headers)}; const request = { headers, text: async () => payload };`,
      },
    };
  },
  'README.md': async () => ({ variables: { ANTHROPIC_API_KEY: 'sk-ant-of-a-reader' } }),
  'docs/guides/quick-start.md': async () => ({ variables: { ANTHROPIC_API_KEY: 'sk-ant-of-a-reader' } }),
  async 'packages/sdk-python/README.md'(place) {
    await place.client.call('PUT', `/agents/${await place.agent()}/files/reports/a.md`, 'A');
    const { body, headers, secret } = signedEvent();
    const request = `request = SimpleNamespace(body=${JSON.stringify(body)}, headers=${JSON.stringify(headers)})`;
    return { texts: { 'whsec_...': secret }, before: { python: `from types import SimpleNamespace\n${request}` } };
  },
  async 'docs/guides/workspace.md'(place) {
    const id = await place.agent();
    await place.client.call('PUT', `/agents/${id}/files/notes/today.md`, 'Today');
    const { body } = await place.client.call('PUT', `/agents/${id}/files/notes.md`, 'Notes');
    return {
      first: 'head -c 100000000 /dev/zero >model.bin',
      texts: { '"<etag of the read>"': body.etag },
      before: { js: `const id = ${JSON.stringify(id)}; const key = process.env.KEY;` },
      after: {
        js: `await new Promise((opened, failed) => Object.assign(terminal, { onopen: opened, onerror: failed }));
          terminal.close();`,
      },
    };
  },
};
