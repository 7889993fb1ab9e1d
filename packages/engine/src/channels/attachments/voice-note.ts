/** Voice notes: no runtime's gateway accepts sound, so the agent learns the file's path and its length. */

/**
 * Layout of a page of an Ogg stream, RFC 3533: the mark, then 2 bytes, then the number of samples that the stream has up to
 * its end.
 */
const pageMark = 'OggS';
const pageHeadBytes = 27;
const samplesAt = 6;
/** RFC 7845: Opus always counts 48,000 samples a second and begins with samples that are not played. */
const opusMark = 'OpusHead';
const samplesPerSecond = 48_000;
const skippedAt = 10;
const opusHeadBytes = 19;
/** Offset of the first packet in an Ogg file: behind the page's head and the one entry of its table. */
const firstPacketAt = pageHeadBytes + 1;
/** Longest page. */
const maxPageBytes = 65_307;
const maxSeconds = 24 * 60 * 60;

export const isOgg = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, pageMark.length)).toString('latin1') === pageMark;

/**
 * How long an Opus recording plays, by its first and its last page; null where the file is something else. A sender wrote
 * it, so only its ends are read, each byte once.
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
