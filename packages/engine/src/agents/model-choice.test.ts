import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Provider } from '@lodge/ports';
import { checkDefaultModel, checkModelStays, checkedModels, chosenModel } from './model-choice.ts';

const provider = (id: string, operatorAdded = false): Provider => ({
  id,
  name: id,
  api: 'openai-completions',
  endpoints: {},
  needsKey: true,
  keyCheck: null,
  docsUrl: null,
  headers: {},
  models: [],
  operatorAdded,
  onlyModels: false,
  privateAddresses: false,
  contextWindow: null,
});
const offer = {
  providers: [provider('anthropic'), provider('openai'), provider('openrouter'), provider('own', true)],
  defaultModel: 'anthropic/claude-sonnet-5',
};
const refused = (message: RegExp) => ({ code: 'invalid_request', message });

test("runtime_a's model names a provider that is known", () => {
  assert.equal(chosenModel(offer, 'runtime_a', null, []), 'anthropic/claude-sonnet-5');
  assert.equal(chosenModel(offer, 'runtime_a', 'openai/gpt-5', []), 'openai/gpt-5');
  assert.throws(() => chosenModel(offer, 'runtime_a', 'gpt-5', []), refused(/<provider>\/<model_name>/));
  assert.throws(() => chosenModel(offer, 'runtime_a', 'nobody/gpt-5', []), refused(/unknown provider/));
});

test("runtime_b's model is bare, of the provider its keys name", () => {
  assert.equal(chosenModel(offer, 'runtime_b', null, []), 'claude-sonnet-5');
  assert.equal(chosenModel(offer, 'runtime_b', 'gpt-5', ['openai']), 'gpt-5');
  assert.throws(() => chosenModel(offer, 'runtime_b', 'openai/gpt-5', ['openai']), refused(/bare .* openai: gpt-5/));
  assert.throws(() => chosenModel(offer, 'runtime_b', 'anthropic/claude', []), refused(/bare/));
  assert.throws(() => chosenModel(offer, 'runtime_b', 'two words', []), refused(/spaces/));
});

test('a provider that serves models of many houses has names with a slash', () => {
  assert.equal(chosenModel(offer, 'runtime_b', 'anthropic/claude', ['openrouter']), 'anthropic/claude');
  assert.equal(chosenModel(offer, 'runtime_b', 'openrouter/auto', ['openrouter']), 'openrouter/auto');
  assert.equal(chosenModel(offer, 'runtime_b', 'anthropic/claude', ['own']), 'anthropic/claude');
  assert.throws(() => chosenModel(offer, 'runtime_b', 'own/model', ['own']), refused(/bare/));
  assert.equal(chosenModel(offer, 'runtime_b', 'meta/llama', ['openai']), 'meta/llama', 'a house that is no provider');
});

test('a model that the operator leaves out of a provider is refused with those that are not', () => {
  const own = {
    ...provider('own', true),
    onlyModels: true,
    models: ['large', 'house/small'].map((name) => ({ name, contextWindow: null, prices: null })),
  };
  const narrow = { providers: [provider('openai'), own], defaultModel: 'openai/gpt-5' };
  const message = /^model own\/other is not allowed: provider own offers own\/large, own\/house\/small\.$/;
  assert.throws(() => chosenModel(narrow, 'runtime_a', 'own/other', []), refused(message));
  assert.equal(chosenModel(narrow, 'runtime_a', 'own/house/small', []), 'own/house/small');
  assert.throws(
    () => chosenModel(narrow, 'runtime_b', 'other', ['own']),
    refused(/^model other is not allowed: provider own offers large, house\/small\.$/),
  );
  assert.equal(chosenModel(narrow, 'runtime_b', 'large', ['own']), 'large');
  assert.throws(() => chosenModel(narrow, 'runtime_b', null, ['own']), refused(/^model gpt-5 is not allowed/), 'usual');
  assert.equal(chosenModel(narrow, 'runtime_b', 'other', []), 'other', 'another provider has any');
  assert.throws(() => checkedModels(['own/large', 'own/other'], narrow.providers), refused(/^models\[1\] own\/other/));
  const before = ['own/other'];
  assert.deepEqual(checkedModels(before, narrow.providers, before), before, 'it was there before');
});

test('keys that give a bare model to another provider are refused where that one does not offer it', () => {
  const own = {
    ...provider('own', true),
    onlyModels: true,
    models: [{ name: 'large', contextWindow: null, prices: null }],
  };
  const narrow = { providers: [provider('openai'), own], defaultModel: 'own/other' };
  const stays = (model: string, before: readonly string[], after: readonly string[]) =>
    checkModelStays(narrow, { runtimeKind: 'runtime_b', model }, { before, after });
  assert.throws(() => stays('gpt-5', ['openai'], ['own']), refused(/^model gpt-5 is not allowed: provider own offers/));
  assert.throws(() => stays('gpt-5', ['openai'], []), refused(/^model gpt-5/), 'the default provider has it then');
  stays('large', ['openai'], ['own']);
  stays('gpt-5', ['own'], ['own']);
  assert.throws(() => checkDefaultModel(narrow, 'LODGE_DEFAULT_MODEL'), refused(/^LODGE_DEFAULT_MODEL own\/other/));
  checkDefaultModel({ ...narrow, defaultModel: 'own/large' }, 'LODGE_DEFAULT_MODEL');
});

test('models that may be called name a provider that is known, each once, whatever was there before', () => {
  const { providers } = offer;
  assert.equal(checkedModels(null, providers), null);
  assert.deepEqual(checkedModels([], providers), []);
  assert.deepEqual(checkedModels(['openai/a', 'openrouter/z-ai/b', 'openai/a'], providers), [
    'openai/a',
    'openrouter/z-ai/b',
  ]);
  assert.throws(() => checkedModels(['openai/a', 'gpt-5'], providers), refused(/^models\[1\] must have the form/));
  assert.throws(() => checkedModels(['nobody/a'], providers), refused(/^models\[0\] names an unknown provider/));
  assert.deepEqual(checkedModels(['gone/a', 'openai/a'], providers, ['gone/a']), ['gone/a', 'openai/a']);
  assert.throws(() => checkedModels(['gone/b'], providers, ['gone/a']), refused(/^models\[0\]/));
});
