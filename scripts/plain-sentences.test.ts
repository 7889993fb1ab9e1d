import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesWithoutSubject, withoutSubject } from './plain-sentences.ts';

test('no sentence begins with "Of", "What", "Who" or "Whose", unless it asks', async () => {
  assert.deepEqual(await sentencesWithoutSubject(), []);
});

test('sentences without a subject are found in comments, with their line', () => {
  const source = `
/** What it keeps. */
const a = 'What a string says is no comment.';
/**
 * The size. Of all
 * files together.
 *
 * - Who asks?
 * - Whose it is
 */
// One line,
// two lines. (Who has it reads it.)
const b = 1; // Of a unit.
`;
  assert.deepEqual(withoutSubject('x.ts', source), [
    { line: 2, text: 'What it keeps.' },
    { line: 5, text: 'Of all files together.' },
    { line: 9, text: 'Whose it is' },
    { line: 12, text: '(Who has it reads it.)' },
    { line: 13, text: 'Of a unit.' },
  ]);
});

test('a page is read without its headings and its code, and each cell of a table by itself', () => {
  const page = `
# What it does
It asks: what is it? **What it costs.**

\`\`\`
What a program prints.
\`\`\`

| Whose | The sum of it |
| Of one | Who pays? |
`;
  assert.deepEqual(withoutSubject('x.md', page), [
    { line: 3, text: '**What it costs.**' },
    { line: 9, text: 'Whose' },
    { line: 10, text: 'Of one' },
  ]);
});

test('a shell program has comments behind number signs', () => {
  assert.deepEqual(withoutSubject('x.sh', '#!/bin/sh\n# It runs.\n  # What runs.\necho What "#1"\n'), [
    { line: 3, text: 'What runs.' },
  ]);
});
