import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasPictures } from './pictures.ts';

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const user = (content: unknown) => ({ role: 'user', content });

test('pictures count that come with what is said last, on both APIs', () => {
  assert.equal(hasPictures({ messages: [user('Hi'), user([{ type: 'text', text: 'Look' }, picture])] }), true);
  assert.equal(hasPictures({ input: [user([{ type: 'input_image', image_url: 'data:' }])] }), true);
  assert.equal(hasPictures({ messages: [user([picture]), user('And now?')] }), false);
});

test('a request of any shape has none', () => {
  for (const body of [{}, { messages: 'x' }, { messages: [] }, { messages: [null] }, { input: 'x' }]) {
    assert.equal(hasPictures(body), false);
  }
  for (const content of [null, 'image_url', [null, 'image_url', ['image_url'], { type: ['image_url'] }], picture]) {
    assert.equal(hasPictures({ messages: [user(content)] }), false);
  }
});
