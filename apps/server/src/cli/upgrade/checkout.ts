/**
 * The repository that a Lodge runs from, and another commit of it beside, in `.upgrade/tree`, with its own `node_modules`.
 * While that commit is tried, the earlier packages lie in `.upgrade/packages`, so going back needs no registry.
 *
 * Git and npm run as the owner of the repository, who owns these files, keys and settings.
 */
import { execFile } from 'node:child_process';
import { chown, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { exists } from '../../host/files.ts';
import { CommandError } from '../command.ts';
import { upgradeFolder } from './journal.ts';

const run = promisify(execFile);
const gitTimeoutMs = 10 * 60_000;
const packagesTimeoutMs = 20 * 60_000;
/** Git itself holds its lock for seconds. */
const gitLockTimeoutMs = 15_000;
const maxOutputBytes = 16 * 2 ** 20;
const maxSaidChars = 2_000;
const maxRefChars = 200;
const lockName = 'package-lock.json';
const upgradeModule = 'apps/server/src/cli/upgrade/upgrade.ts';

export class Checkout {
  readonly root: string;
  private readonly asOwner: readonly string[];
  private readonly home: string | undefined;

  private constructor(root: string, asOwner: readonly string[], home?: string) {
    this.root = root;
    this.asOwner = asOwner;
    this.home = home;
  }

  static async open(root: string): Promise<Checkout> {
    if (!(await exists(join(root, '.git'))) || !(await exists(join(root, 'scripts/start.sh')))) {
      throw new CommandError(`${root} is no checkout of Lodge's repository, so there is nothing to upgrade.`);
    }
    const { uid, gid } = await stat(root);
    await mkdir(join(root, upgradeFolder), { recursive: true });
    await chown(join(root, upgradeFolder), uid, gid);
    if (uid === process.geteuid?.()) return new Checkout(root, []);
    const { stdout } = await run('getent', ['passwd', '--', String(uid)]).catch((error: Error) => {
      throw new CommandError(`${root} belongs to a user that this machine does not know (${uid}).`, { cause: error });
    });
    const [name, , , , , home] = stdout.trim().split(':');
    return new Checkout(root, ['runuser', '-u', name!, '--'], home);
  }

  private get tree(): string {
    return join(this.root, upgradeFolder, 'tree');
  }
  private get packages(): string {
    return join(this.root, upgradeFolder, 'packages');
  }

  async head(): Promise<string> {
    return this.commit('HEAD');
  }

  async assertClean(): Promise<void> {
    const [dirty] = (await this.git('status', '--porcelain', '--untracked-files=no')).split('\n');
    if (!dirty) return;
    throw new CommandError(
      `${this.root} has changes that are not committed (${dirty.trim()}). Commit them or take them back; nothing was done.`,
    );
  }

  /** The target commit: `ref`, or the one that the branch follows. Rejects when commits of this checkout would be lost. */
  async target(ref: string | undefined): Promise<string> {
    if (ref !== undefined && (ref.length > maxRefChars || !/^[\w][\w./@^~+-]*$/.test(ref))) {
      throw new CommandError('--to names a tag, a branch or a commit.');
    }
    await this.git('fetch', '--quiet', '--tags', '--force');
    const commit = await this.find(ref === undefined ? ['@{upstream}'] : [`refs/tags/${ref}`, `origin/${ref}`, ref]);
    if (commit === null && ref === undefined) {
      throw new CommandError('What is checked out follows no branch of a remote: name a tag, a branch or a commit.');
    }
    if (commit === null) throw new CommandError(`There is no tag, branch or commit ${ref}.`);
    if (await this.isAncestor('HEAD', commit)) return commit;
    const isOlder = await this.isAncestor(commit, 'HEAD');
    throw new CommandError(
      isOlder
        ? `${ref ?? 'The branch of the remote'} is older than what is checked out. upgrade --back goes to what was before.`
        : `${ref ?? 'The branch of the remote'} lacks commits that are checked out here. Bring them together first.`,
    );
  }

  /** Checks that commit out beside this one, with its packages. */
  async makeTree(commit: string): Promise<void> {
    await this.removeTree();
    await this.git('worktree', 'add', '--quiet', '--detach', this.tree, commit);
    if (await this.samePackages()) {
      const [from, to] = [join(this.root, 'node_modules'), join(this.tree, 'node_modules')];
      await run('cp', ['-al', from, to], { timeout: packagesTimeoutMs });
      return;
    }
    await this.owned('bash', [join(this.tree, 'scripts/setup.sh'), 'packages'], packagesTimeoutMs);
  }

  /** Rejects with the other commit's output when its commands do not even load. */
  async assertLoads(): Promise<void> {
    const node = join(this.tree, 'node_modules/.bin/node');
    await this.owned(node, [join(this.tree, 'apps/server/src/cli/main.ts'), 'help'], gitTimeoutMs);
    const upgrade = join(this.tree, upgradeModule);
    // It detects a kill from there on. An older release does not have it.
    if (!(await exists(upgrade))) return;
    const load = `await import(${JSON.stringify(pathToFileURL(upgrade).href)})`;
    await this.owned(node, ['--input-type=module', '--eval', load], gitTimeoutMs);
  }

  async removeTree(): Promise<void> {
    await rm(this.tree, { recursive: true, force: true });
    await this.git('worktree', 'prune');
  }

  /** Names and contents of a commit's migrations, and their folder. */
  async migrationsOf(commit: string): Promise<{ readonly folder: string; readonly text: string }> {
    const listed = await this.git('ls-tree', '-r', commit, '--', 'packages/store/src');
    const lines = listed.split('\n').filter((line) => /\/migrations\/\d{4}_\w+\.sql$/.test(line));
    const [first] = lines;
    if (first === undefined)
      throw new CommandError(`The commit ${commit} has no migrations: it is no release of Lodge.`);
    const named = lines.map((line) => [line.slice(line.lastIndexOf('/') + 1), line.split(/\s/)[2]]);
    return { folder: join(this.root, dirname(first.slice(first.indexOf('\t') + 1))), text: JSON.stringify(named) };
  }

  /** Goes to the tree's commit, packages first. `goBack` undoes a kill in between. */
  async goTo(commit: string): Promise<void> {
    if (!(await this.samePackages())) {
      await rename(join(this.root, 'node_modules'), this.packages);
      await rename(join(this.tree, 'node_modules'), join(this.root, 'node_modules'));
    }
    await this.git('reset', '--quiet', '--keep', commit);
  }

  /** Goes back to the commit at which `goTo` was called, from any intermediate state. */
  async goBack(commit: string): Promise<void> {
    // A loss of power may cut git off. The half-written files are git's own, because the checkout was clean.
    const isCutOff = await this.gitWasCutOff();
    await this.git('reset', '--quiet', isCutOff ? '--hard' : '--keep', commit);
    if (!(await exists(this.packages))) return;
    await rm(join(this.root, 'node_modules'), { recursive: true, force: true });
    await rename(this.packages, join(this.root, 'node_modules'));
  }

  /** Call it when there is no way back by `goBack` any more. */
  async forget(): Promise<void> {
    await this.removeTree();
    await rm(this.packages, { recursive: true, force: true });
  }

  private async gitWasCutOff(): Promise<boolean> {
    const lock = join(this.root, (await this.git('rev-parse', '--git-path', 'index.lock')).trim());
    const deadline = performance.now() + gitLockTimeoutMs;
    while (await exists(lock)) {
      if (performance.now() > deadline) {
        await rm(lock, { force: true });
        return true;
      }
      await sleep(100);
    }
    return false;
  }

  private async samePackages(): Promise<boolean> {
    const [here, there] = await Promise.all([this.root, this.tree].map((root) => readFile(join(root, lockName))));
    return here!.equals(there!);
  }

  private async isAncestor(older: string, newer: string): Promise<boolean> {
    return (await this.git('rev-list', '--max-count=1', older, '--not', newer)) === '';
  }

  private async find(names: readonly string[]): Promise<string | null> {
    for (const name of names) {
      const found = await this.commit(name).catch(() => null);
      if (found !== null) return found;
    }
    return null;
  }

  private async commit(name: string): Promise<string> {
    return (await this.git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)).trim();
  }

  private async git(...args: string[]): Promise<string> {
    const settings = ['core.hooksPath=/dev/null', 'advice.detachedHead=false'];
    const flags = settings.flatMap((setting) => ['-c', setting]);
    return this.owned('git', [...flags, '-C', this.root, ...args], gitTimeoutMs);
  }

  private async owned(program: string, args: readonly string[], timeout: number): Promise<string> {
    const [first, ...rest] = [...this.asOwner, program, ...args] as [string, ...string[]];
    const env = { ...process.env, ...(this.home && { HOME: this.home }), GIT_TERMINAL_PROMPT: '0' };
    return run(first, rest, { cwd: this.root, env, timeout, maxBuffer: maxOutputBytes }).then(
      ({ stdout }) => stdout,
      (error: Error & { stderr?: string; killed?: boolean }) => {
        const said = (error.stderr ?? '').trim().slice(-maxSaidChars) || error.message;
        const why = error.killed ? `did not end within ${timeout / 60_000} minutes` : 'failed';
        // The address of a remote may hold a token.
        const plain = said.replace(/\/\/[^/@\s]+@/g, '//');
        throw new CommandError(`${program} ${why}: ${plain}`, { cause: error });
      },
    );
  }
}
