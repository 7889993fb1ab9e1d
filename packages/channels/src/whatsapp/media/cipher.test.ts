import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { TooLargeError } from '../../shared/bounded.ts';
import { mediaKeysOf } from '../device/library.ts';
import { DamagedFileError, digestsOf, seal, sealedBytes, unseal } from './cipher.ts';

const keys = await mediaKeysOf(Buffer.alloc(32, 7), 'document');
const file = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));

async function* inPieces(bytes: Uint8Array, length = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const sealed = await all(seal(inPieces(file), keys));
const digests = await digestsOf(inPieces(file), keys);
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

describe('a file at the media host', () => {
  test('has the bytes of the format', () => {
    // Computed once by other programs: HKDF and HMAC by Python, AES by OpenSSL's command.
    const known = '35366869813c44d699e4fc39b7888d8c3a9b6f50d5777516dbfe57d50e2125b4';
    assert.equal(sha256(sealed).toString('hex'), known);
    assert.deepEqual(digests, { plain: sha256(file), sealed: sha256(sealed) });
  });

  test('is read again, however it is cut, and takes as many bytes as were said', async () => {
    for (const bytes of [1, 15, 16, 17, 1_000]) {
      const part = file.subarray(0, bytes);
      const whole = await all(seal(inPieces(part, 7), keys));
      assert.equal(whole.length, sealedBytes(bytes));
      const known = await digestsOf(inPieces(part), keys);
      for (const length of [1, 9, 10, 11, 500, 2_000]) {
        assert.deepEqual(await all(unseal(inPieces(whole, length), keys, known, bytes)), part);
      }
    }
  });

  test('is damaged with each byte that is another, too many or too few', async () => {
    const bad: Uint8Array[] = Array.from({ length: sealed.length }, (_, at) => {
      const other = Buffer.from(sealed);
      other[at]! ^= 1;
      return other;
    });
    for (const bytes of [0, 1, 9, 10, 11, 26, 500, 1_008, 1_017]) bad.push(sealed.subarray(0, bytes));
    bad.push(Buffer.concat([sealed, Buffer.alloc(6)]));
    for (const other of bad) {
      await assert.rejects(all(unseal(inPieces(other), keys, digests, 1_100)), DamagedFileError);
    }
  });

  test('is damaged where one proof alone fails: the HMAC, the hash of what lies there, the hash of the file', async () => {
    const mac = Buffer.from(sealed);
    mac[sealed.length - 1]! ^= 1;
    const read = (bytes: Uint8Array, known: typeof digests) => all(unseal(inPieces(bytes), keys, known, 1_100));
    await assert.rejects(read(mac, { ...digests, sealed: sha256(mac) }), DamagedFileError);
    await assert.rejects(read(sealed, { ...digests, sealed: sha256(mac) }), DamagedFileError);
    await assert.rejects(read(sealed, { ...digests, plain: sha256(mac) }), DamagedFileError);
    assert.deepEqual(await read(sealed, digests), file);
  });

  test('never gives its last block before it is proved', async () => {
    const other = Buffer.from(sealed);
    other[5]! ^= 1;
    let bytes = 0;
    await assert.rejects(async () => {
      for await (const chunk of unseal(inPieces(other, 16), keys, digests, 1_100)) bytes += chunk.length;
    }, DamagedFileError);
    assert.ok(bytes < 1_000);
  });

  test('gives no more bytes than are asked for, and reads hardly more', async () => {
    await assert.rejects(all(unseal(inPieces(sealed), keys, digests, 999)), TooLargeError);
    let read = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        read += 1_000;
        yield Buffer.alloc(1_000);
      }
    };
    await assert.rejects(all(unseal(endless(), keys, digests, 10_000)), TooLargeError);
    assert.ok(read <= 12_000, `${read} bytes`);
  });

  test('has no end where its source is another one the second time', async () => {
    const given: Uint8Array[] = [];
    await assert.rejects(async () => {
      for await (const chunk of seal(inPieces(file.subarray(1)), keys, digests.plain)) given.push(chunk);
    }, DamagedFileError);
    assert.ok(Buffer.concat(given).length < sealedBytes(999));
  });
});
