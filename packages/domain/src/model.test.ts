import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxModelLength, parseProviderModel } from './model.ts';

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
