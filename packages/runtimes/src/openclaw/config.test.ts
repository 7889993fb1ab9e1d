import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unmaskModel } from '@lodge/domain';
import { guestApis, modelFor, openclawConfig } from './config.ts';

interface Config {
  readonly models: {
    readonly providers: Record<
      string,
      { readonly baseUrl: string; readonly models: { id: string; input: readonly string[] }[] }
    >;
  };
  readonly plugins: { readonly entries: Record<string, object> };
  readonly agents: { readonly defaults: { readonly model: { readonly primary: string } } };
}

const config = JSON.parse(openclawConfig('f00d'.repeat(16))) as Config;
const known = new Map<string, readonly string[]>(
  Object.entries(config.models.providers).flatMap(([name, provider]) =>
    provider.models.map(({ id, input }) => [`${name}/${id}`, input] as const),
  ),
);

test('the only secret in a guest is the token of its own gateway', () => {
  const text = openclawConfig('f00d'.repeat(16));
  assert.equal(text.split('f00d'.repeat(16)).length - 1, 1);
  assert.doesNotMatch(text, /apiKey|api_key|password|botToken/);
});

// The image takes `mcp` off OpenClaw's list, because a new guest has no old state of it.
test('the first start takes the short way: no key is set that OpenClaw looks for old state behind', () => {
  const stateful =
    'accessGroups acp approvals audio bindings broadcast channels cloudWorkers commitments cron env marketplaces media ' +
    'memory messages nodeHost proxy secrets session surfaces talk tools transcripts web';
  assert.deepEqual(
    stateful.split(' ').filter((key) => key in config),
    [],
  );
  assert.deepEqual(Object.keys(config.plugins), ['allow', 'load', 'entries']);
  assert.deepEqual(
    Object.keys(config.plugins.entries),
    ['admin-http-rpc', 'browser', 'memory-core'],
    'plugins of its package alone',
  );
  for (const entry of Object.values(config.plugins.entries)) assert.deepEqual(Object.keys(entry), ['enabled']);
});

test('every model call goes to the broker', () => {
  for (const { baseUrl } of Object.values(config.models.providers))
    assert.match(baseUrl, /^http:\/\/10\.0\.2\.2:4000\//);
});

test('whatever an agent is set to, its model is one the guest knows', () => {
  for (const api of guestApis) {
    for (const contextWindow of [null, 1, 16_000, 40_000, 64_000, 128_000, 1_000_000]) {
      for (const pictures of [false, true]) {
        const model = modelFor({ api, contextWindow, pictures });
        assert.equal(known.get(model)?.includes('image'), pictures, model);
      }
    }
  }
  assert.ok(known.has(config.agents.defaults.model.primary));
});

test('OpenClaw never plans with more tokens than a model of known size takes', () => {
  const api = 'openai-completions';
  assert.equal(modelFor({ api, contextWindow: null }), 'lodge/default');
  assert.equal(modelFor({ api, contextWindow: 200_000 }), 'lodge/default');
  assert.equal(modelFor({ api, contextWindow: 127_999 }), 'lodge/default-64k');
  assert.equal(modelFor({ api, contextWindow: 32_768 }), 'lodge/default-32k');
  assert.equal(modelFor({ api: 'anthropic-messages', contextWindow: 20_000 }), 'lodge-anthropic/default-16k');
});

test('a model that is named reaches the broker as it was named, whatever OpenClaw thinks of such names', () => {
  const model = 'google/gemini-3-flash';
  const chosen = modelFor({ api: 'google-generative-ai', contextWindow: 1_000, model });
  const [provider, name] = chosen.split('/');
  assert.deepEqual([provider, unmaskModel(name!)], ['lodge-google', model]);
});
