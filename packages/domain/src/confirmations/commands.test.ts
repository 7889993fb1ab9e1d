import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandPolicy, hasCommandRules } from './commands.ts';
import type { ConfirmationPolicy, Confirmations } from './rules.ts';

const given = (...rules: (readonly [on: string, match: string, policy: ConfirmationPolicy])[]): Confirmations => ({
  rules: rules.map(([on, match, policy]) => ({ on, match, policy })),
  default: 'ask',
  deliver: [],
  deciders: [],
  expires: '24h',
});

test('the strictest policy of the commands of a line counts', () => {
  const rules = given(
    ['command', 'git status*', 'allow'],
    ['command', 'git push*', 'ask'],
    ['command', 'rm -rf*', 'deny'],
    ['command', 'write /workspace/secrets/*', 'deny'],
  );
  const cases: readonly (readonly [string, ConfirmationPolicy])[] = [
    ['ls', 'allow'],
    ['git status && ls', 'allow'],
    ['git push', 'ask'],
    ['GIT PUSH origin', 'ask'],
    ['cd x && git push origin main', 'ask'],
    ['git status; git   push', 'ask'],
    ['GIT_SSH=x sudo git push', 'ask'],
    ['if true; then git push; fi', 'ask'],
    ['echo $(git push)', 'ask'],
    ['a\ngit push\nrm -rf /', 'deny'],
    ['echo git push', 'allow'],
    ['write /workspace/notes.md', 'allow'],
    ['write /workspace/a\nwrite /workspace/secrets/b', 'deny'],
  ];
  for (const [text, policy] of cases) assert.equal(commandPolicy(rules, text), policy, text);
});

test('a rule for the whole line, word for word, allows it; a pattern does not allow what stands behind it', () => {
  const line = 'git push origin; ls';
  const ask = ['command', 'git push*', 'ask'] as const;
  assert.equal(commandPolicy(given(['command', line, 'allow'], ask), line), 'allow');
  assert.equal(commandPolicy(given(['command', 'ls*', 'allow'], ask), 'ls; git push'), 'ask');
  assert.equal(commandPolicy(given(['command', line, 'deny'], ask), line), 'deny');
});

test('without rules for commands nothing is asked, whatever the default', () => {
  assert.equal(commandPolicy(null, 'rm -rf /'), 'allow');
  assert.equal(commandPolicy(given(['messages', '*', 'ask']), 'rm -rf /'), 'allow');
  assert.equal(hasCommandRules(null), false);
  assert.equal(hasCommandRules(given(['messages', '*', 'ask'], ['command', '*', 'allow'])), false);
  assert.equal(hasCommandRules(given(['command', 'x', 'deny'])), true);
});

test('a line of the longest kind is looked at quickly', () => {
  const rules = given(
    ...Array.from({ length: 100 }, (_, n) => ['command', `*a${n}*${'ab'.repeat(200)}*`, 'ask'] as const),
  );
  const began = performance.now();
  assert.equal(commandPolicy(rules, ';ab'.repeat(5_461)), 'allow');
  assert.ok(performance.now() - began < 2_000);
});
