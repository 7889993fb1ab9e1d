/** The words of a confirmation hide nothing of the call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownCall, shownQuestion } from './shown.ts';

const bank = { kind: 'mcp', connection: 'bank', url: 'https://bank.test/mcp' } as const;

test('signs that hide, reorder or are blank are written out, in the words of the agent and in the names of a server', () => {
  for (const [given, written] of [
    ['\u202e', String.raw`\u202e`],
    ['\u00ad', String.raw`\u00ad`],
    ['\u061c', String.raw`\u061c`],
    ['\u2028', String.raw`\u2028`],
    ['\u3164', String.raw`\u3164`],
    ['\u200d', String.raw`\u200d`],
    ['\r', String.raw`\u000d`],
    ['\u{e0041}', String.raw`\u{e0041}`],
    ['\u{e0100}', String.raw`\u{e0100}`],
    ['é ß 漢 ❤️\n😀', 'é ß 漢 ❤️\n😀'],
  ] as const) {
    const command = { kind: 'command', tool: 'exec', text: `a${given}b`, detail: '', digest: '' } as const;
    assert.equal(shownCall(command).quoted, `a${written}b`);
    assert.deepEqual(shownQuestion({ question: 'x', options: [given] }).options, [written]);
    const { action } = shownCall({ ...bank, tool: `pay${given}`, arguments: {} });
    assert.ok(!/[\p{Cc}\p{Cf}\u{e0000}-\u{e0fff}]/u.test(action), action);
  }
});

test('a long call says that it is cut, and a body that is no text says its size', () => {
  const http = { kind: 'http', connection: 'c', url: 'https://c.test', method: 'POST', path: '/x', query: '' } as const;
  const sent = (body: Buffer) => shownCall({ ...http, headers: {}, body: body.toString('base64') });
  const long = sent(Buffer.from('😀'.repeat(2_000)));
  assert.deepEqual([long.isCut, long.quoted!.length], [true, 2_000]);
  assert.equal(sent(Buffer.from([0xff, 0xfe])).quoted, '(2 bytes that are no text)');
});
