import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentModel, bareModelFault, maskModel, maxModelLength, parseProviderModel, unmaskModel } from './model.ts';

test('the first slash divides provider and model name', () => {
  assert.deepEqual(parseProviderModel('openrouter/anthropic/claude-sonnet-5'), {
    provider: 'openrouter',
    name: 'anthropic/claude-sonnet-5',
  });
});

test('what is not provider/model is refused', () => {
  for (const model of [
    '',
    'gpt',
    '/gpt',
    'openai/',
    'Open AI/gpt',
    'openai/a b',
    'openai/a\nb',
    `openai/${'x'.repeat(maxModelLength)}`,
  ]) {
    assert.equal(parseProviderModel(model), null, JSON.stringify(model));
  }
});

test('a bare model has no provider before it, and is one word', () => {
  assert.equal(bareModelFault('runtime_b', 'claude-sonnet-5', ['anthropic']), null);
  assert.equal(bareModelFault('runtime_b', 'Qwen/Qwen3-32B', ['anthropic', 'qwen']), null, 'a house is no provider');
  assert.match(
    bareModelFault('runtime_b', 'anthropic/claude-sonnet-5', ['anthropic'])!,
    /bare <model_name>.* claude-sonnet-5/,
  );
  assert.equal(bareModelFault('runtime_b', 'anthropic/claude-sonnet-5', []), null);
  for (const name of ['a b', 'a\n', 'ä', 'x'.repeat(maxModelLength + 1)])
    assert.ok(bareModelFault('runtime_b', name, []), name);
});

test("runtime_a's model names its provider, whatever keys there are", () => {
  const agent = { runtimeKind: 'runtime_a', model: 'openai/gpt-5', keyProviders: ['anthropic'] } as const;
  assert.deepEqual(agentModel(agent, 'anthropic'), { provider: 'openai', name: 'gpt-5' });
  assert.equal(agentModel({ ...agent, model: 'gpt-5' }, 'anthropic'), null);
});

test("runtime_b's bare model belongs to the provider its owner gave a key for, else to the deployment's", () => {
  const cases: readonly [model: string, keys: readonly string[], usual: string | null, provider: string | undefined][] =
    [
      ['claude-sonnet-5', [], 'anthropic', 'anthropic'],
      ['claude-sonnet-5', [], null, undefined],
      ['claude-sonnet-5', ['openrouter'], 'anthropic', 'openrouter'],
      ['anthropic/claude-sonnet-5', ['openrouter'], 'anthropic', 'openrouter'],
      ['anthropic/claude-sonnet-5', ['anthropic', 'openrouter'], 'anthropic', 'openrouter'],
      ['gpt-5', ['anthropic', 'openai'], 'anthropic', 'openai'],
      ['GPT-5', ['anthropic', 'openai'], 'anthropic', 'openai'],
      ['o4-mini', ['anthropic', 'openai'], null, 'openai'],
      ['gemini-3-pro', ['anthropic', 'openai'], 'openai', 'openai'],
      ['house-model', ['zed', 'acme'], 'anthropic', 'acme'],
      ['house-model', ['zed', 'acme'], 'zed', 'zed'],
    ];
  for (const [model, keyProviders, usual, provider] of cases) {
    const found = agentModel({ runtimeKind: 'runtime_b', model, keyProviders }, usual);
    assert.deepEqual(
      found,
      provider === undefined ? null : { provider, name: model },
      `${model} ${keyProviders.join()}`,
    );
  }
});

test('a masked model is one plain word, and is itself again unmasked; what is not masked stays', () => {
  for (const model of ['google/gemini-3-flash', 'openrouter/anthropic/claude:free', 'ä']) {
    assert.match(maskModel(model), /^named-[0-9a-f]+$/);
    assert.equal(unmaskModel(maskModel(model)), model);
  }
  for (const name of ['default', 'named-', 'named-6', 'named-zz', 'named-6g61']) assert.equal(unmaskModel(name), name);
});
