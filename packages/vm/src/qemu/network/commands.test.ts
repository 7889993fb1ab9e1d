import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './commands.ts';

test('a tool reads its input, also an empty one, from a regular file that it can open by name', async () => {
  const text = 'table\n'.repeat(100_000);
  assert.equal(await run('cat', ['/dev/stdin'], text), text);
  for (const input of [text, '']) assert.match(await run('stat', ['-L', '-c', '%F', '/dev/stdin'], input), /^regular/);
});

test('a tool that fails rejects with what it said', async () => {
  await assert.rejects(run('sh', ['-c', 'echo because >&2; exit 3']), { message: 'sh ended with 3: because' });
});
