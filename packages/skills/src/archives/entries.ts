/** The contents of an archive: regular files within the bounds of a skill, counted while they are unpacked. */
import { SkillPaths, SkillProblem, shownPath, skillBounds } from '@lodge/domain';

export interface Entry {
  readonly path: string;
  readonly executable: boolean;
  readonly content: Uint8Array;
}

/** Archives made on a Mac have files of its own beside the others. */
const ofFinder = /^__MACOSX\/|(?:^|\/)\.DS_Store$/;

const mib = 2 ** 20;
const tooMany = (): SkillProblem => new SkillProblem(`more than ${skillBounds.files} files are in it`);
const tooLarge = (): SkillProblem => new SkillProblem(`its files have more than ${skillBounds.bytes / mib} MiB`);

/** Entries of any kind beyond which nobody reads on. */
const maxEntries = 2_048;

export class Entries {
  readonly files: Entry[] = [];
  readonly #paths = new SkillPaths();
  #seen = 0;
  #bytes = 0;

  /** Counts an entry of any kind. */
  see(): void {
    this.#seen += 1;
    if (this.#seen > maxEntries) throw tooMany();
  }

  /** Says whether a file is wanted. Call it before the file is unpacked: `bytes` is what the archive says. */
  admit(path: string, bytes: number): boolean {
    this.#paths.add(path);
    if (ofFinder.test(path)) return false;
    if (this.files.length >= skillBounds.files) throw tooMany();
    if (bytes > this.left) throw tooLarge();
    return true;
  }

  get left(): number {
    return skillBounds.bytes - this.#bytes;
  }

  add(entry: Entry): void {
    this.#bytes += entry.content.length;
    if (this.#bytes > skillBounds.bytes) throw tooLarge();
    this.files.push(entry);
  }
}

export const refuseLink = (path: string): never => {
  throw new SkillProblem(`${shownPath(path)} is a link`);
};
export const refuseSpecial = (path: string): never => {
  throw new SkillProblem(`${shownPath(path)} is a device, or another thing that is no file`);
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a name that an archive has as bytes. */
export function nameOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new SkillProblem(`${shownPath(Buffer.from(bytes).toString('latin1'))} is not UTF-8`);
  }
}
