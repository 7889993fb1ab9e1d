/**
 * A client of git's smart HTTP in version 2 of the protocol: it lists references and fetches objects of one commit, without
 * history. It has no store, runs no program of git, and takes every answer within bounds.
 */
import { fetchWhole } from '../fetch.ts';
import type { FetchedFrom } from '../fetch.ts';
import { NotThere, SourceFailure } from '../source-failure.ts';
import { delimiter, flush, linesOf, pktLine, textOf } from './pkt-line.ts';

const mib = 2 ** 20;
const maxListBytes = mib;
/** Compressed, as they come. A repository that has more must be fetched by a server that leaves out what is not asked for. */
const maxPackBytes = 24 * mib;

export class GitClient {
  readonly #from: FetchedFrom;
  readonly #url: string;
  readonly #signal: AbortSignal;
  /** Whether the server leaves objects out. */
  readonly canFilter: boolean;

  private constructor(from: FetchedFrom, url: string, signal: AbortSignal, canFilter: boolean) {
    this.#from = from;
    this.#url = url;
    this.#signal = signal;
    this.canFilter = canFilter;
  }

  static async open(from: FetchedFrom, url: string, signal: AbortSignal): Promise<GitClient> {
    const base = url.replace(/\/$/, '');
    const request = {
      method: 'GET',
      url: `${base}/info/refs?service=git-upload-pack`,
      headers: version2,
      signal,
    } as const;
    const { status, body } = await fetchWhole(from, request, maxListBytes);
    if (status === 401 || status === 403 || status === 404) {
      throw new SourceFailure('the server has no such repository, or it is not public');
    }
    if (status !== 200) throw new SourceFailure(`the server answered ${status}`);
    const lines = [...linesOf(body)].filter((line) => line !== null).map(textOf);
    if (!lines.includes('version 2')) throw new SourceFailure("the server does not speak version 2 of git's protocol");
    if (lines.some((line) => line.startsWith('object-format=') && line !== 'object-format=sha1')) {
      throw new SourceFailure('the repository names its objects by another hash than SHA-1');
    }
    const abilities =
      lines
        .find((line) => line.startsWith('fetch='))
        ?.slice('fetch='.length)
        .split(' ') ?? [];
    return new GitClient(from, base, signal, abilities.includes('filter'));
  }

  /** The commit, or the tag of it, that a reference names. */
  async resolve(ref: string | null): Promise<string> {
    if (ref !== null && /^[0-9a-f]{40}$/.test(ref)) return ref;
    const names = ref === null ? ['HEAD'] : ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
    const answer = await this.#ask('ls-refs', ['peel', ...names.map((name) => `ref-prefix ${name}`)], maxListBytes);
    const found = new Map<string, string>();
    for (const line of linesOf(answer)) {
      if (line === null) continue;
      const [, id, name, rest] = /^([0-9a-f]{40}) (\S+)(.*)$/.exec(textOf(line)) ?? [];
      if (id !== undefined) found.set(name!, /peeled:([0-9a-f]{40})/.exec(rest!)?.[1] ?? id);
    }
    const id = names.map((name) => found.get(name)).find((one) => one !== undefined);
    if (id === undefined) throw new NotThere('ref names no branch, no tag and no whole commit of the repository');
    return id;
  }

  /** Fetches a commit with its folders, and with its files where the server leaves nothing out. */
  fetchCommit(id: string): Promise<Buffer> {
    return this.#fetch(['deepen 1', ...(this.canFilter ? ['filter blob:none'] : []), `want ${id}`]);
  }

  fetchObjects(ids: readonly string[]): Promise<Buffer> {
    return this.#fetch(ids.map((id) => `want ${id}`));
  }

  async #fetch(wants: readonly string[]): Promise<Buffer> {
    const answer = await this.#ask('fetch', ['no-progress', 'ofs-delta', ...wants, 'done'], maxPackBytes);
    const pieces: Buffer[] = [];
    let isPack = false;
    for (const line of linesOf(answer)) {
      if (line === null) continue;
      if (isPack) {
        // 1 is a piece of the pack, 2 is what the server tells of its work, 3 is its last word.
        if (line[0] === 3) throw new SourceFailure('the server refused to send what was asked for');
        if (line[0] === 1) pieces.push(line.subarray(1));
      } else if (textOf(line).startsWith('ERR ')) throw new NotThere('ref names no commit that the server sends');
      else isPack = textOf(line) === 'packfile';
    }
    if (!isPack) throw new SourceFailure("the server's answer is not git's");
    return Buffer.concat(pieces);
  }

  async #ask(command: string, args: readonly string[], maxBytes: number): Promise<Buffer> {
    const head = [`command=${command}`, 'agent=lodge', 'object-format=sha1'].map(pktLine).join('');
    const body = Buffer.from(head + delimiter + args.map(pktLine).join('') + flush);
    const headers = {
      ...version2,
      'content-type': 'application/x-git-upload-pack-request',
      accept: 'application/x-git-upload-pack-result',
    };
    const request = {
      method: 'POST',
      url: `${this.#url}/git-upload-pack`,
      headers,
      body,
      signal: this.#signal,
    } as const;
    const answer = await fetchWhole(this.#from, request, maxBytes);
    if (answer.status !== 200) throw new SourceFailure(`the server answered ${answer.status}`);
    const [first] = linesOf(answer.body);
    if (first && textOf(first).startsWith('ERR ')) throw new NotThere('ref names no commit that the server sends');
    return answer.body;
  }
}

const version2 = { 'git-protocol': 'version=2' };
