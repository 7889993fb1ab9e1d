/** Voice notes: no runtime's gateway takes sound, so the agent is told of the file and how long it is. */

/** Of a page of an Ogg stream, RFC 3533: the mark, then 2 bytes, then how many samples the stream has up to its end. */
const pageMark = 'OggS';
const pageHeadBytes = 27;
const samplesAt = 6;
/** RFC 7845: what Opus counts is always 48,000 a second, and begins with samples that are not played. */
const opusMark = 'OpusHead';
const samplesPerSecond = 48_000;
const skippedAt = 10;
const opusHeadBytes = 19;
/** The first packet lies this far into an Ogg file: behind the page's head and the one entry of its table. */
const firstPacketAt = pageHeadBytes + 1;
/** A page is not longer. */
const maxPageBytes = 65_307;
const maxSeconds = 24 * 60 * 60;

export const isOgg = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, pageMark.length)).toString('latin1') === pageMark;

/**
 * How long an Opus recording plays, by its first and its last page; null where the file is nothing of the kind. A sender wrote
 * it: only the ends of it are looked at, each byte once.
 */
export function voiceSeconds(file: Buffer): number | null {
  if (!isOgg(file) || file.length < firstPacketAt + opusHeadBytes) return null;
  const mark = file.toString('latin1', firstPacketAt, firstPacketAt + opusMark.length);
  if (mark !== opusMark) return null;
  const skipped = file.readUInt16LE(firstPacketAt + skippedAt);
  const end = file.subarray(-maxPageBytes);
  const page = end.lastIndexOf(pageMark, undefined, 'latin1');
  if (page === -1 || page + pageHeadBytes > end.length) return null;
  const samples = Number(end.readBigInt64LE(page + samplesAt)) - skipped;
  const seconds = Math.round(samples / samplesPerSecond);
  return samples > 0 && seconds <= maxSeconds ? seconds : null;
}
