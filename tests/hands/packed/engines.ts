/** An empty folder with packages of ours in it, as their users have it, and the engines of npm's registry that they run on. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Parts of the names of these packages for each processor. */
const names = { x64: { node: 'x64', bun: 'x64' }, arm64: { node: 'arm64', bun: 'aarch64' } } as const;
const { node: nodeName, bun: bunName } = names[process.arch as keyof typeof names];

export interface Engine {
  readonly name: string;
  /** The package that has it, with its version. */
  readonly from: string;
  /** Its program, below the package. */
  readonly program: string;
  /** Words before the script on its command line. */
  readonly args: readonly string[];
}

const nodeOf = (version: string): Engine => {
  const from = `node-linux-${nodeName}@${version}`;
  return { name: `Node ${version}`, from, program: 'bin/node', args: [] };
};
export const nodes: readonly Engine[] = ['20', '22', '24'].map(nodeOf);
export const bun: Engine = { name: 'Bun', from: `@oven/bun-linux-${bunName}@1`, program: 'bin/bun', args: ['run'] };
export const deno: Engine = {
  name: 'Deno',
  from: `@deno/linux-${nodeName}-glibc@2`,
  program: 'deno',
  args: ['run', '--allow-all'],
};

/** Node as the host has it, where it has one, and else the one that runs this: its command line. */
export const hostNode = [existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath] as const;

export class Place {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), 'packed-')));
    await place.write('package.json', '{"private": true, "type": "module"}');
    return place;
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text);
  }

  install(...packages: readonly string[]): void {
    installInto(this.folder, packages);
  }

  /** Installs an engine beside what is tried, and returns its command line up to the script. */
  async engine({ from, program, args }: Engine): Promise<readonly string[]> {
    const folder = join(this.folder, 'engines', from.replaceAll('/', '-'));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private": true}');
    installInto(folder, [from]);
    return [join(folder, 'node_modules', from.slice(0, from.lastIndexOf('@')), program), ...args];
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

function installInto(folder: string, packages: readonly string[]): void {
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', [...args, ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
