/** Paths of a skill's files. They become files of machines, so each must mean the same on every system. */
import { SkillProblem, skillBounds } from './skill.ts';

const encoder = new TextEncoder();

/** Shows a path that somebody chose, within an error message. */
export const shownPath = (path: string): string => JSON.stringify(path.toWellFormed().slice(0, 100));

/** Throws a `SkillProblem` unless the path is relative, plain, and within its bounds. */
export function checkSkillPath(path: string): void {
  const trouble = troubleOf(path);
  if (trouble !== null) throw new SkillProblem(`${shownPath(path)} ${trouble}`);
}

function troubleOf(path: string): string | null {
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is an absolute path';
  if (path.includes('\\')) return 'has a backslash';
  if (!path.isWellFormed() || path.includes('\ufffd')) return 'is not UTF-8';
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return 'has a control character or a hidden one';
  if (encoder.encode(path).length > skillBounds.pathBytes) return `is longer than ${skillBounds.pathBytes} bytes`;
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of the folder';
  if (names.some((name) => name === '' || name === '.')) return 'has an empty name';
  if (names.some((name) => name.toLowerCase() === '.git')) return 'is of a repository: leave .git out';
  return names.length > skillBounds.depth ? `is deeper than ${skillBounds.depth} names` : null;
}

/** Two paths of one form are one file on a system that ignores case. */
const formOf = (path: string): string => path.normalize('NFKC').toLowerCase();

/** Collects paths. It refuses one that is there, also in another case, or that is a folder of another. */
export class SkillPaths {
  readonly #files = new Map<string, string>();
  readonly #folders = new Map<string, string>();

  add(path: string): void {
    checkSkillPath(path);
    const form = formOf(path);
    const same = this.#files.get(form);
    if (same !== undefined) throw new SkillProblem(`${shownPath(path)} is there twice${inCase(path, same)}`);
    if (this.#folders.has(form)) throw new SkillProblem(`${shownPath(path)} is a file and a folder`);
    this.#files.set(form, path);
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      const folderForm = formOf(folder);
      if (this.#files.has(folderForm)) throw new SkillProblem(`${shownPath(folder)} is a file and a folder`);
      const known = this.#folders.get(folderForm) ?? folder;
      if (known !== folder) throw new SkillProblem(`${shownPath(folder)} is there twice${inCase(folder, known)}`);
      this.#folders.set(folderForm, folder);
    }
  }
}

const inCase = (path: string, other: string): string => (path === other ? '' : `, as ${shownPath(other)} too`);
