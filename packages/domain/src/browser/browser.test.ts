import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { checkBrowserSize } from './browser.ts';

test('a browser is refused where the runtime leaves no room for one', () => {
  const refused = (error: unknown): boolean => error instanceof Refusal && /^browser .* medium /.test(error.message);
  assert.throws(() => checkBrowserSize('runtime_a', 'small', true), refused);
  checkBrowserSize('runtime_a', 'small', false);
  checkBrowserSize('runtime_a', 'medium', true);
  checkBrowserSize('runtime_b', 'small', true);
});
