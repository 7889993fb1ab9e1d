/** Files of answers: as what they are sent, and what is said when they were not. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { SendFailure } from '@lodge/ports';
import type { InboundMessage, OutboundPart } from '@lodge/ports';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { PhoneFile, WhatsAppStub } from '@lodge/testkit/whatsapp';
import { targetOf } from '../../../conformance/world.ts';
import { Case, quick } from '../testing/case.ts';
import '../testing/timers.ts';

type FilePart = Extract<OutboundPart, { kind: 'file' }>;

let stub: WhatsAppStub;
before(async () => {
  stub = await startWhatsAppStub();
  stub.misbehave.fewPreKeys = true;
});
afterEach(() => {
  stub.media.misbehave.uploads = 'well';
  stub.misbehave.refusesUploads = false;
  stub.misbehave.acknowledges = 'well';
});
after(() => stub.close());

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40_000, 'pixels')]);
const pdf = Buffer.alloc(70_000, '%PDF ');

function partOf(bytes: Buffer, name = 'the report.pdf', mediaType = 'application/pdf'): FilePart {
  const open = async function* (): AsyncIterable<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  };
  return { kind: 'file', name, mediaType, bytes: bytes.length, open };
}

const send = (
  each: Case,
  part: FilePart,
  message: InboundMessage,
  key: string = crypto.randomUUID(),
  timeoutMs = 8_000,
): Promise<{ id: string }> => each.connection!.send(targetOf(message), part, key, AbortSignal.timeout(timeoutMs));

async function asked(t: Parameters<typeof Case.connected>[0]): Promise<{ each: Case; message: InboundMessage }> {
  const each = await Case.connected(t, stub);
  return { each, message: await each.hears('the report?') };
}

const shown = (each: Case): (PhoneFile | null)[] => each.ann.shown.map(({ message }) => stub.media.fileOf(message));

/** Whether it is a failure of this kind, with neither an address nor a token in it. */
const isFailure =
  (outcome: SendFailure['outcome']) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof SendFailure, String(error));
    assert.doesNotMatch(inspect(error), /auth=|127\.0\.0\.1|mms/);
    return error.outcome === outcome;
  };

describe('files of answers', () => {
  test('a picture is shown as one, everything else is a document with its name', async (t) => {
    const { each, message } = await asked(t);
    const large = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]);
    await send(each, partOf(png, 'plot.png', 'image/png'), message);
    await send(each, partOf(pdf, 'no picture.png', 'image/png'), message);
    await send(each, partOf(large, 'large.png', 'image/png'), message);
    await send(each, partOf(pdf, 'in/a/folder: "report".pdf'), message);
    await send(each, partOf(Buffer.from('x'), 'x.mp4', 'video/mp4'), message);
    const files = shown(each).map((file) => [file!.kind, file!.name, file!.mediaType, file!.bytes.length]);
    assert.deepEqual(files, [
      ['image', '', 'image/png', png.length],
      ['document', 'no picture.png', 'image/png', pdf.length],
      ['document', 'large.png', 'image/png', large.length],
      ['document', 'folder: "report".pdf', 'application/pdf', pdf.length],
      ['document', 'x.mp4', 'video/mp4', 1],
    ]);
    assert.deepEqual(shown(each)[0]!.bytes, png);
  });

  test('in a group the first part shows what it answers', async (t) => {
    const each = await Case.connected(t, stub);
    const group = stub.group('Kitchen', [each.account.phone, each.ann]);
    const id = await stub.writeInGroup(each.ann, group, 'the recipe?');
    await send(each, partOf(pdf), await each.host.message('the recipe?'));
    await each.host.until(() => each.ann.shown.some(({ answers }) => answers === id), 'the file');
    assert.deepEqual(shown(each)[0]!.bytes, pdf);
  });

  test('an unclear send that is repeated is shown once', async (t) => {
    const { each, message } = await asked(t);
    stub.misbehave.acknowledges = 'breaks_once';
    await assert.rejects(send(each, partOf(pdf), message, 'key'), isFailure('unknown'));
    const { id } = await send(each, partOf(pdf), message, 'key');
    assert.deepEqual(
      each.ann.shown.map((one) => one.id),
      [id],
    );
  });

  test('a file that a phone could not read is sent again', async (t) => {
    const { each, message } = await asked(t);
    await each.answer('first', message);
    await each.ann.forget(each.account.device!.jid);
    await send(each, partOf(pdf), message);
    await each.host.until(() => shown(each).some((file) => file?.bytes.equals(pdf)), 'the file, sent again');
    assert.equal(stub.media.uploads > 0, true);
  });

  test('a leave is asked for once, and once more when it has ended', async (t) => {
    const { each, message } = await asked(t);
    const leaves = (): number => stub.seen.filter((tag) => tag === 'iq/media_conn').length;
    const before = leaves();
    await send(each, partOf(pdf), message);
    await send(each, partOf(pdf), message);
    assert.equal(leaves(), before + 1);
    stub.media.endLeaves();
    await send(each, partOf(pdf), message);
    assert.equal(leaves(), before + 2);
    await each.host.until(() => shown(each).length === 3, 'all three files');
  });
});

describe('files that are not sent', () => {
  test('whatever the media host does, it says so, and nothing reaches a phone', async (t) => {
    const { each, message } = await asked(t);
    const messages = (): number => stub.seen.filter((tag) => tag.startsWith('message')).length;
    const before = messages();
    const outcomes = {
      unauthorized: 'retry',
      too_large: 'refused',
      breaks: 'retry',
      silent: 'retry',
      redirects: 'retry',
      nonsense: 'retry',
      failing: 'retry',
    } as const;
    for (const [how, outcome] of Object.entries(outcomes)) {
      stub.media.misbehave.uploads = how as keyof typeof outcomes;
      const began = Date.now();
      await assert.rejects(send(each, partOf(pdf), message), isFailure(outcome), how);
      assert.ok(Date.now() - began < 6_000, how);
    }
    assert.deepEqual([messages(), stub.media.strayed], [before, 0]);
    stub.media.misbehave.uploads = 'well';
    await send(each, partOf(pdf), message);
    assert.equal(shown(each).length, 1);
  });

  test('a refusal that comes before the file has left is heard', async (t) => {
    const { each, message } = await asked(t);
    stub.media.misbehave.uploads = 'too_large';
    await assert.rejects(send(each, partOf(Buffer.alloc(20 * 1024 * 1024)), message), isFailure('refused'));
  });

  test('without a leave it is tried later', async (t) => {
    const { each, message } = await asked(t);
    stub.misbehave.refusesUploads = true;
    await assert.rejects(send(each, partOf(pdf), message), isFailure('retry'));
    stub.misbehave.refusesUploads = false;
    await send(each, partOf(pdf), message);
    assert.equal(shown(each).length, 1);
  });

  test('a file that is another one when it is read again, or of another length, is not sent', async (t) => {
    const { each, message } = await asked(t);
    let opened = 0;
    const changing = partOf(pdf);
    changing.open = async function* (): AsyncIterable<Uint8Array> {
      opened += 1;
      yield Buffer.alloc(pdf.length, String(opened));
    };
    for (const part of [changing, { ...partOf(pdf), bytes: pdf.length - 1 }, { ...partOf(pdf), bytes: pdf.length + 1 }])
      await assert.rejects(send(each, part, message), isFailure('retry'));
    assert.equal(opened, 2);
    assert.deepEqual(shown(each), []);
  });

  test('an empty file and one that is too large are refused before anything is asked', async (t) => {
    const { each, message } = await asked(t);
    const { uploads } = stub.media;
    for (const bytes of [0, 100 * 1024 * 1024 + 1])
      await assert.rejects(send(each, { ...partOf(pdf), bytes }, message), isFailure('refused'));
    assert.equal(stub.media.uploads, uploads);
  });

  test('neither a signal nor the end of the connection is held up', async (t) => {
    const each = await Case.connected(t, stub, { timings: { ...quick, fileMs: 60_000, stalledMs: 60_000 } });
    const message = await each.hears('the report?');
    stub.media.misbehave.uploads = 'silent';
    const before = Date.now();
    await assert.rejects(send(each, partOf(pdf), message, 'a', 200), isFailure('retry'));
    assert.ok(Date.now() - before < 5_000);
    const ended = assert.rejects(send(each, partOf(pdf), message, 'b', 60_000), isFailure('retry'));
    await each.connection!.close();
    await ended;
  });

  test('nobody who has not written gets a file, and nothing is uploaded for them', async (t) => {
    const { each, message } = await asked(t);
    const { uploads } = stub.media;
    const stranger = { ...message, conversation: { ...message.conversation, id: '15559999999@s.whatsapp.net' } };
    await assert.rejects(send(each, partOf(pdf), stranger), isFailure('refused'));
    assert.equal(stub.media.uploads, uploads);
  });
});
