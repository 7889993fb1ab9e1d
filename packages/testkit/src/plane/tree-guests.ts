/**
 * Guests of a fake host with folders that are real: home and workspace of each lie below a folder of its own and go through
 * tar(1), as in a guest. The host's fake disk says which folder is a guest's, so it comes along as the disk does.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress } from '@lodge/ports';
import type { FakeHost } from '@lodge/vm/fake';

const run = promisify(execFile);
const place = 'folder';

export const treeData = { folders: ['/home/agent', '/workspace'], except: ['/home/agent/release'] } as const;

export class TreeGuests {
  readonly guestAt = (address: GuestAddress): GuestClient => this.client(address) as unknown as GuestClient;
  /** Runs before a tree is read or written. */
  before: (what: 'read' | 'write') => Promise<void> = () => Promise.resolve();
  private readonly host: FakeHost;
  private readonly root: string;

  private constructor(host: FakeHost, root: string) {
    this.host = host;
    this.root = root;
  }

  static async open(host: FakeHost): Promise<TreeGuests> {
    return new TreeGuests(host, await mkdtemp(join(tmpdir(), 'lodge-guests-')));
  }

  close(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }

  /** The folder that is an agent's root. */
  async folderOf(agentId: string): Promise<string> {
    const files = this.host.vms.get(agentId)!.guest.files;
    const there = files.get(place);
    if (there !== undefined) return there;
    const made = await mkdtemp(join(this.root, 'guest-'));
    files.set(place, made);
    for (const folder of treeData.folders) await mkdir(join(made, folder), { recursive: true });
    await run('chown', ['-R', '1000:1000', made]);
    return made;
  }

  /** Gives the agent a copy of its folder, so that its saved machines keep the one of before. */
  async part(agentId: string): Promise<void> {
    const there = await this.folderOf(agentId);
    const copy = await mkdtemp(join(this.root, 'guest-'));
    await run('cp', ['-a', `${there}/.`, copy]);
    this.host.vms.get(agentId)!.guest.files.set(place, copy);
  }

  private client(guest: GuestAddress) {
    const vm = this.host.guestAt(guest.address);
    if (vm === null) throw new Error(`no guest answers at ${guest.address}`);
    const folder = this.folderOf(vm.agentId);
    const names = treeData.folders.map((path) => path.slice(1));
    return {
      pace: 1,
      exec: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
      sync: async () => undefined,
      readTree: async (): Promise<Readable> => {
        await this.before('read');
        const argv = ['-c', '--numeric-owner', '--xattrs', '--acls', '--sparse', '--one-file-system'];
        const child = spawn('tar', [...argv, '-C', await folder, '--', ...names], {
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        return child.stdout;
      },
      writeTree: async (_: readonly string[], tar: Readable): Promise<void> => {
        await this.before('write');
        const at = await folder;
        const fresh = await mkdtemp(join(this.root, 'new-'));
        const argv = ['-x', '-p', '--same-owner', '--numeric-owner', '--xattrs', '--acls', '-C', fresh, '--', ...names];
        const child = spawn('tar', argv, { stdio: ['pipe', 'ignore', 'pipe'] });
        const said: Buffer[] = [];
        child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
        const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
        await pipeline(tar, child.stdin);
        const status = await ended;
        if (status !== 0) throw new Error(`tar ended with ${status}: ${Buffer.concat(said).toString()}`);
        for (const name of names) {
          await rm(join(at, name), { recursive: true, force: true });
          await rename(join(fresh, name), join(at, name));
        }
      },
    };
  }
}
