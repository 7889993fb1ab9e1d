/** Files that people send: their descriptions, and the rights of the media host. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import type { InboundFile, InboundMessage } from '@lodge/ports';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { PersonFile, WhatsAppStub } from '@lodge/testkit/whatsapp';
import { bytesOf } from '../../../conformance/world.ts';
import { TooLargeError } from '../../shared/bounded.ts';
import { Case, quick } from '../testing/case.ts';
import '../testing/timers.ts';

let stub: WhatsAppStub;
before(async () => {
  stub = await startWhatsAppStub();
  stub.misbehave.fewPreKeys = true;
});
afterEach(() => (stub.media.misbehave.downloads = 'well'));
after(() => stub.close());

const bytes = Buffer.alloc(60_000, 'some bytes of a file; ');
const plan: PersonFile = { name: 'plan.pdf', mediaType: 'application/pdf', bytes, caption: 'the plan' };

/** A phone's description of a good file, with some fields replaced. */
function documentOf(stub: WhatsAppStub, other: object) {
  const { documentMessage } = stub.media.put({ name: 'plan.pdf', mediaType: 'application/pdf', bytes });
  return { documentMessage: { ...documentMessage, caption: 'odd', ...other } };
}

async function sends(each: Case, message: object, text: string): Promise<InboundMessage> {
  await each.write('', { message });
  return each.host.message(text);
}

async function open(each: Case, file: InboundFile, maxBytes = 1_000_000, timeoutMs = 8_000): Promise<Buffer> {
  return bytesOf(await each.connection!.open(file.ref, maxBytes, AbortSignal.timeout(timeoutMs)));
}

describe('files of people', () => {
  test('pictures, videos, sounds and documents come with kind, name, type, caption and bytes', async (t) => {
    const each = await Case.connected(t, stub);
    const sent: readonly [PersonFile, Partial<InboundFile>][] = [
      [
        { name: '', mediaType: 'image/jpeg', bytes, caption: 'one' },
        { name: 'photo.jpg', kind: 'image' },
      ],
      [
        { name: '', mediaType: 'image/png', bytes, caption: 'two' },
        { name: 'photo.png', kind: 'image' },
      ],
      [
        { name: '', mediaType: 'video/mp4', bytes, caption: 'three' },
        { name: 'video.mp4', kind: 'file' },
      ],
      [
        { name: '../../plan.pdf', mediaType: 'application/pdf', bytes, caption: 'four' },
        { name: 'plan.pdf', kind: 'file' },
      ],
    ];
    for (const [file, expected] of sent) {
      const { files } = await sends(each, stub.media.put(file), file.caption!);
      assert.equal(files.length, 1);
      const { ref: _, ...found } = files[0]!;
      assert.deepEqual(found, { mediaType: file.mediaType, bytes: bytes.length, ...expected });
      assert.deepEqual(await open(each, files[0]!), bytes);
    }
  });

  test('a voice message is one, and a sound that was sent is a file', async (t) => {
    const each = await Case.connected(t, stub);
    for (const isVoice of [true, false]) {
      const mediaType = isVoice ? 'audio/ogg; codecs=opus' : 'audio/mpeg';
      await each.write('', { message: stub.media.put({ name: '', mediaType, bytes, isVoice }) });
    }
    await each.host.until(() => each.kept.messages.length === 2, 'both');
    const files = each.kept.messages.flatMap((message) => message.files);
    assert.deepEqual(
      files.map(({ name, kind }) => [name, kind]),
      [
        ['voice.ogg', 'voice'],
        ['audio.mp3', 'file'],
      ],
    );
    for (const file of files) assert.deepEqual(await open(each, file), bytes);
  });

  test('no host that a message names is asked', async (t) => {
    const each = await Case.connected(t, stub);
    const { port } = new URL(stub.media.url);
    const other = `localhost:${port}/elsewhere/x`;
    const { files } = await sends(each, documentOf(stub, { url: `http://${other}` }), 'odd');
    assert.deepEqual(await open(each, files[0]!), bytes);
    const { downloads } = stub.media;
    for (const directPath of [
      `//${other}`,
      `@${other}`,
      `:80@${other}`,
      `http://${other}`,
      `/\\${other}`,
      '/a b',
      '',
    ]) {
      each.kept.messages.length = 0;
      const message = await sends(each, documentOf(stub, { directPath, url: `http://${other}` }), 'odd');
      assert.equal(message.files[0]!.name, 'plan.pdf');
      await assert.rejects(open(each, message.files[0]!), /no file of this channel/);
    }
    assert.deepEqual([stub.media.strayed, stub.media.downloads], [0, downloads]);
  });

  test('a file of which too little or too much is said is told of, and not fetched', async (t) => {
    const each = await Case.connected(t, stub);
    const { downloads } = stub.media;
    for (const odd of [
      { mediaKey: null },
      { mediaKey: Buffer.alloc(31) },
      { fileSha256: null },
      { fileEncSha256: Buffer.alloc(0) },
      { directPath: `/${'x'.repeat(1_000)}` },
      { directPath: null },
    ]) {
      each.kept.messages.length = 0;
      const { files } = await sends(each, documentOf(stub, odd), 'odd');
      await assert.rejects(open(each, files[0]!), /no file of this channel/);
    }
    assert.equal(stub.media.downloads, downloads);
    each.kept.messages.length = 0;
    const longest = await sends(each, documentOf(stub, { directPath: `/${'x'.repeat(999)}` }), 'odd');
    assert.ok(longest.files[0]!.ref.length <= 2_048);
    await assert.rejects(open(each, longest.files[0]!), /does not give the file/);
  });

  test('what a message says of its size counts for nothing', async (t) => {
    const each = await Case.connected(t, stub);
    for (const fileLength of [1, 2 ** 40]) {
      each.kept.messages.length = 0;
      const { files } = await sends(each, documentOf(stub, { fileLength }), 'odd');
      await assert.rejects(open(each, files[0]!, bytes.length - 1), TooLargeError);
      assert.deepEqual(await open(each, files[0]!, bytes.length), bytes);
    }
  });

  test('a reference holds no key, is of one device, and outlives the process', async (t) => {
    const each = await Case.connected(t, stub);
    const message = stub.media.put(plan);
    const media = message.documentWithCaptionMessage!.message!.documentMessage!;
    const { files } = await sends(each, message, 'the plan');
    const [file] = files;
    const known = (['hex', 'base64', 'base64url'] as const).map((as) => Buffer.from(media.mediaKey!).toString(as));
    const shown = [file!.ref, Buffer.from(file!.ref, 'base64url').toString('latin1')];
    for (const secret of [...known, media.directPath!]) assert.ok(!shown.some((text) => text.includes(secret)));
    const other = await Case.connected(t, stub);
    await assert.rejects(open(other, file!), /no file of this channel/);
    await each.connection!.close();
    await each.connect();
    assert.deepEqual(await open(each, file!), bytes);
  });
});

describe('a media host that misbehaves', () => {
  test('gives no file, ends in time, and is asked again', async (t) => {
    const each = await Case.connected(t, stub);
    const { files } = await sends(each, stub.media.put(plan), 'the plan');
    for (const how of ['cut', 'breaks', 'forged', 'slow', 'silent', 'redirects', 'gone'] as const) {
      stub.media.misbehave.downloads = how;
      const before = Date.now();
      await assert.rejects(open(each, files[0]!), (error: Error) => {
        assert.doesNotMatch(inspect(error), /https?:|127\.0\.0\.1|localhost/, how);
        return !(error instanceof TooLargeError);
      });
      assert.ok(Date.now() - before < 6_000, `${how} took ${Date.now() - before} ms`);
    }
    stub.media.misbehave.downloads = 'well';
    assert.deepEqual(await open(each, files[0]!), bytes);
    assert.equal(stub.media.strayed, 0);
  });

  test('gives bytes without an end: no more are read than may be', async (t) => {
    const each = await Case.connected(t, stub);
    const { files } = await sends(each, stub.media.put(plan), 'the plan');
    stub.media.misbehave.downloads = 'endless';
    let given = 0;
    await assert.rejects(async () => {
      const source = await each.connection!.open(files[0]!.ref, 1_000_000, AbortSignal.timeout(5_000));
      for await (const chunk of source) given += chunk.length;
    }, TooLargeError);
    assert.ok(given <= 1_000_000);
  });

  test('holds up neither a signal nor the end of the connection', async (t) => {
    const each = await Case.connected(t, stub, { timings: { ...quick, fileMs: 60_000, stalledMs: 60_000 } });
    const { files } = await sends(each, stub.media.put(plan), 'the plan');
    for (const how of ['slow', 'silent'] as const) {
      stub.media.misbehave.downloads = how;
      const before = Date.now();
      await assert.rejects(open(each, files[0]!, 1_000_000, 200));
      assert.ok(Date.now() - before < 5_000);
    }
    const opening = open(each, files[0]!, 1_000_000, 60_000);
    const ended = assert.rejects(opening);
    await each.connection!.close();
    await ended;
  });
});
