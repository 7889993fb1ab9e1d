import { Shares } from '@lodge/domain';
import type { Holder } from '@lodge/domain';
import { isOgg, voiceSeconds } from './voice-note.ts';
import { headBytes, pictureBounds, pictureTypeOf } from './picture.ts';
import type { Picture } from './picture.ts';

/** The bytes of pictures that this process may hold in memory at once. */
export const heldPictures = (): Shares =>
  new Shares({
    perAgent: pictureBounds.heldOfAgent,
    perAccount: pictureBounds.heldOfAccount,
    inAll: pictureBounds.heldBytes,
    few: pictureBounds.allBytes,
  });

/** The share of one turn. */
interface Room {
  /** Returns false where so many more bytes may not be held. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/** The type of a file that has passed. */
export interface Seen {
  readonly isPicture: boolean;
  /** Length of a voice note, where the file says it. */
  readonly seconds: number | null;
}

const nothing: Seen = { isPicture: false, seconds: null };

/** The pictures among the files of one turn, within the bounds. `release` frees the bytes that it holds. */
export class TurnPictures {
  private readonly held: Shares;
  private readonly holder: Holder;
  private kept: Picture[] = [];
  private bytes = 0;

  constructor(held: Shares, { agentId, accountId }: Holder) {
    this.held = held;
    this.holder = { agentId, accountId };
  }

  get pictures(): readonly Picture[] {
    return this.kept;
  }

  /** Begins another file. */
  file(): PassingFile {
    return new PassingFile(
      { take: (bytes) => this.take(bytes), giveBack: (bytes) => this.giveBack(bytes) },
      (picture) => this.add(picture),
    );
  }

  release(): void {
    this.kept = [];
    this.giveBack(this.bytes);
  }

  private add(picture: Picture): boolean {
    if (this.kept.length >= pictureBounds.count) return false;
    this.kept.push(picture);
    return true;
  }

  private take(bytes: number): boolean {
    if (this.bytes + bytes > pictureBounds.allBytes || !this.held.take(this.holder, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  private giveBack(bytes: number): void {
    this.held.giveBack(this.holder, bytes);
    this.bytes -= bytes;
  }
}

/** A file on its way into the workspace. Its bytes are kept as long as they may be those of a picture or a voice note. */
export class PassingFile {
  private readonly room: Room;
  private readonly add: (picture: Picture) => boolean;
  private chunks: Uint8Array[] = [];
  private bytes = 0;
  private isOfUse = true;

  constructor(room: Room, add: (picture: Picture) => boolean) {
    this.room = room;
    this.add = add;
  }

  look(chunk: Uint8Array): void {
    if (!this.isOfUse) return;
    if (this.bytes + chunk.length > pictureBounds.bytes || !this.room.take(chunk.length)) return this.drop();
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    const isFirstLook = this.bytes >= headBytes && this.bytes - chunk.length < headBytes;
    if (isFirstLook && !this.mayBeOfUse()) this.drop();
  }

  /** The file is whole. */
  end(): Seen {
    if (!this.isOfUse) return nothing;
    const file = Buffer.concat(this.chunks);
    const type = pictureTypeOf(file);
    const isPicture = type !== null && this.add({ type, base64: file.toString('base64') });
    if (isPicture) this.chunks = [];
    else this.drop();
    return { isPicture, seconds: type === null ? voiceSeconds(file) : null };
  }

  drop(): void {
    if (this.isOfUse) this.room.giveBack(this.bytes);
    this.isOfUse = false;
    this.chunks = [];
  }

  private mayBeOfUse(): boolean {
    const head = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    return pictureTypeOf(head) !== null || isOgg(head);
  }
}
