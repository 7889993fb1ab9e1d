/** Watches the frames of a WebSocket (RFC 6455, 5.2) as they pass, without keeping them. */

const ownOpcodes = 8;
const longestHeader = 14;

/** Tells messages from the pings by which clients keep a connection open: only messages are a use of the browser. */
export class FrameSight {
  private header: number[] = [];
  private leftBytes = 0;

  /** Whether part of a message is in these bytes. */
  take(chunk: Buffer): boolean {
    let hasMessage = false;
    let at = 0;
    while (at < chunk.length) {
      if (this.leftBytes > 0) {
        const passing = Math.min(this.leftBytes, chunk.length - at);
        this.leftBytes -= passing;
        at += passing;
        continue;
      }
      this.header.push(chunk[at]!);
      at += 1;
      const length = bodyLength(this.header);
      if (length === null) continue;
      if ((this.header[0]! & 0x0f) < ownOpcodes) hasMessage = true;
      this.leftBytes = length;
      this.header = [];
    }
    return hasMessage || (this.leftBytes > 0 && chunk.length > longestHeader);
  }
}

/** The length of the frame's body, with its mask, or null while the header is not whole. */
function bodyLength(header: readonly number[]): number | null {
  if (header.length < 2) return null;
  const short = header[1]! & 0x7f;
  const more = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (header.length < 2 + more) return null;
  const length = more === 0 ? short : header.slice(2, 2 + more).reduce((sum, byte) => sum * 256 + byte, 0);
  return length + ((header[1]! & 0x80) === 0 ? 0 : 4);
}
