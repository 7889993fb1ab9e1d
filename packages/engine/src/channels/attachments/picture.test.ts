import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureTypeOf } from './picture.ts';

const head = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

test('a picture is told by its first bytes', () => {
  for (const [bytes, type] of [
    ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0', 'image/png'],
    ['\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
    ['GIF89a\x01\0\x01\0', 'image/gif'],
    ['GIF87a', 'image/gif'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ] as const) {
    assert.equal(pictureTypeOf(head(bytes)), type);
  }
});

test('what only resembles one is none, nor is a format that is text or holds others', () => {
  for (const bytes of [
    '',
    'PNG',
    '\x89PNG\r\n\x1a\n',
    '\x89PNG\r\n\x1a\n<script>',
    'image/png',
    '<svg xmlns="http://www.w3.org/2000/svg">',
    'GIF88a',
    'RIFF\x10\0\0\0WAVEfmt ',
    ' \xff\xd8\xff',
    '%PDF-1.7',
    'PK\x03\x04',
    'OggS',
  ]) {
    assert.equal(pictureTypeOf(head(bytes)), null, JSON.stringify(bytes));
  }
});

test('a piece of a larger buffer is looked at from its own beginning', () => {
  const whole = head('xxxxGIF89a');
  assert.equal(pictureTypeOf(whole.subarray(4)), 'image/gif');
  assert.equal(pictureTypeOf(whole), null);
});
