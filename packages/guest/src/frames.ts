/** Frames of a guest's streams (`exec/stream`, `terminal`): a byte that says the kind, four that say the length (big-endian), the payload. */

export interface Frame {
  readonly kind: number;
  readonly payload: Buffer;
}

/** What the daemon sends while a command runs. The last one is `exit`, an `ExecOutcome` in JSON. */
export const execFrame = { stdout: 0, stderr: 1, exit: 2 } as const;
/** Of a terminal, from the host: bytes typed; a `TerminalSize` in JSON; nothing, to be answered alike. */
export const terminalInput = { data: 0, resize: 1, ping: 2 } as const;
/** Of a terminal, from the guest: bytes shown; a `ProcessEnd` in JSON, the last frame; the answer to a ping. */
export const terminalOutput = { data: 0, exit: 1, pong: 2 } as const;

/** Longest payload either side takes, bytes. */
export const maxFrameBytes = 1024 * 1024;
const headBytes = 5;

export function encodeFrame(kind: number, payload: Uint8Array | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const frame = Buffer.allocUnsafe(headBytes + bytes.length);
  frame.writeUInt8(kind, 0);
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, headBytes);
  return frame;
}

/** Finds the frames in a stream of bytes. It never holds more than one frame that is not whole yet. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private length = 0;

  /** Frames that are whole now. Throws when one is longer than any may be. */
  push(chunk: Buffer): Frame[] {
    this.chunks.push(chunk);
    this.length += chunk.length;
    const frames: Frame[] = [];
    for (let wanted = this.wanted(); wanted !== null && this.length >= wanted; wanted = this.wanted()) {
      const bytes = this.joined();
      frames.push({ kind: bytes.readUInt8(0), payload: bytes.subarray(headBytes, wanted) });
      this.chunks = [bytes.subarray(wanted)];
      this.length -= wanted;
    }
    return frames;
  }

  /** Bytes of the frame that begins what is held; null while that is not known. */
  private wanted(): number | null {
    if (this.length < headBytes) return null;
    const first = this.chunks[0]!;
    const payload = (first.length >= headBytes ? first : this.joined()).readUInt32BE(1);
    if (payload > maxFrameBytes) throw new Error(`a frame of ${payload} bytes`);
    return headBytes + payload;
  }

  private joined(): Buffer {
    const [first, ...rest] = this.chunks;
    if (first !== undefined && rest.length === 0) return first;
    const bytes = Buffer.concat(this.chunks, this.length);
    this.chunks = [bytes];
    return bytes;
  }
}
