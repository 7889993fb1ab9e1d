import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNote } from './turn-note.ts';

const user = (content: unknown) => ({ role: 'user', content });
const said = '[Lodge: n]\n\nping';

test('the line comes before the last message of the user, in either API and in parts', () => {
  const earlier = [user('a'), { role: 'assistant', content: 'b' }];
  assert.deepEqual(withNote({ messages: [...earlier, user('ping')], stream: true }, 'n'), {
    messages: [...earlier, user(said)],
    stream: true,
  });
  const picture = { type: 'image_url', image_url: { url: 'data:,' } };
  assert.deepEqual(withNote({ messages: [user([picture])] }, 'n'), {
    messages: [user([{ type: 'text', text: '[Lodge: n]' }, picture])],
  });
  assert.deepEqual(withNote({ input: 'ping' }, 'n'), { input: said });
  const part = { type: 'input_text', text: 'ping' };
  assert.deepEqual(withNote({ input: [user([part])] }, 'n'), {
    input: [user([{ type: 'input_text', text: '[Lodge: n]' }, part])],
  });
});

test('where nobody says anything the line is said alone, and a request of another form stays as it is', () => {
  const output = { type: 'function_call_output', call_id: 'c', output: 'x' };
  assert.deepEqual(withNote({ input: [output] }, 'n'), { input: [output, user('[Lodge: n]')] });
  assert.deepEqual(withNote({ input: 7 }, 'n'), { input: 7 });
});
