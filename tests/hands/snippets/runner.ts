/**
 * Runs the blocks of one page as a reader would, in an empty folder. Shell blocks share their variables. The blocks of
 * JavaScript, and those of Python, are one program each.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { packedProgram } from '../cli/command.ts';
import { ownPython, packagesFor } from '../python/environment.ts';
import { root } from './blocks.ts';

const defaultLimitMs = 60_000;
const outputBytes = 4 * 1024 * 1024;

/** A failure of curl is one of the snippet. A stream without an end is looked at for a moment. */
const curl = `#!/bin/bash
real=$(PATH=\${PATH#*:} command -v curl)
case " $* " in
  *follow=true* | *' -N '*)
    "$real" --fail-with-body --silent --show-error --max-time 1 "$@" || [ $? = 28 ]
    ;;
  *) exec "$real" --fail-with-body --silent --show-error "$@" ;;
esac
`;
const lodge = (program: string): string => `#!/bin/sh
exec ${process.execPath} ${program} "$@"
`;

export class Runner {
  readonly folder: string;
  private variables: Record<string, string>;

  private readonly limitMs: number;

  private constructor(folder: string, variables: Record<string, string>, limitMs: number) {
    this.folder = folder;
    this.variables = variables;
    this.limitMs = limitMs;
  }

  /** A reader's folder, with the files that snippets read. Each run ends after the limit. */
  static async open(variables: Readonly<Record<string, string>>, limitMs = defaultLimitMs): Promise<Runner> {
    const folder = await mkdtemp(join(tmpdir(), 'lodge-snippets-'));
    const bin = join(folder, 'bin');
    const work = join(folder, 'work');
    await mkdir(bin);
    await mkdir(work);
    await writeFile(join(bin, 'curl'), curl, { mode: 0o755 });
    await writeFile(join(bin, 'lodge'), lodge(await packedProgram()), { mode: 0o755 });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(work, 'notes.md'), '# Notes\n');
    await writeFile(join(work, 'key.txt'), variables['KEY'] ?? '');
    await writeFile(join(work, 'report.pdf'), '%PDF-1.7\n');
    await mkdir(join(work, '.openclaw/workspace'), { recursive: true });
    await writeFile(join(work, '.openclaw/workspace/SOUL.md'), 'You are Molly.\n');
    await writeFile(join(work, '.openclaw/workspace/MEMORY.md'), 'Tea at four.\n');
    await writeFile(join(work, 'model.bin'), 'model');
    await mkdir(join(work, 'site'));
    await writeFile(join(work, 'site/index.html'), 'Hello\n');
    const { PATH = '' } = process.env;
    const own = { HOME: work, LANG: 'C.UTF-8', NO_COLOR: '1', XDG_CONFIG_HOME: join(folder, 'config') };
    return new Runner(folder, { ...own, ...variables, PATH: [bin, PATH].join(delimiter) }, limitMs);
  }

  set(variables: Readonly<Record<string, string>>): void {
    Object.assign(this.variables, variables);
  }

  has(name: string): string | undefined {
    return this.variables[name];
  }

  /** A file of the reader's, whose first line is a comment with its name. */
  async keep(text: string): Promise<void> {
    const name = /^# ([\w.]+)\n/.exec(text)?.[1];
    if (name !== undefined) await writeFile(join(this.folder, 'work', name), text);
  }

  /** Runs a shell block; the next one has its variables and its folder. */
  async shell(text: string): Promise<string> {
    const after = join(this.folder, 'variables');
    const script = `set -euo pipefail -o allexport\ntrap 'env -0 >${after}' EXIT\n${text}\n`;
    const output = await this.run('bash', ['-c', script], this.variables['PWD'] ?? join(this.folder, 'work'));
    const pairs = (await readFile(after, 'utf8')).split('\0').filter((pair) => pair.includes('='));
    this.variables = Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
    return output;
  }

  /** Runs JavaScript blocks as one module; a name may be given anew by a later block. */
  async javascript(blocks: readonly string[]): Promise<string> {
    const file = join(this.folder, 'work', 'snippets.mts');
    await writeFile(file, blocks.map(redeclarable).join('\n'));
    return this.run(process.execPath, [file], join(this.folder, 'work'));
  }

  async python(blocks: readonly string[]): Promise<string> {
    const python = await ownPython();
    const packages = await packagesFor(python, new URL('requirements.txt', import.meta.url).pathname);
    this.set({
      PYTHONPATH: [packages, join(root, 'packages/sdk-python/src')].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
    });
    await writeFile(join(this.folder, 'snippets.py'), blocks.join('\n'));
    return this.run(python.program, [join(this.folder, 'snippets.py')], join(this.folder, 'work'));
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  private run(program: string, args: readonly string[], cwd: string): Promise<string> {
    const options = { cwd, env: this.variables, timeout: this.limitMs, maxBuffer: outputBytes };
    return new Promise((resolve, reject) => {
      const child = execFile(program, args, options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message.slice(0, 400)}\n${stdout}\n${stderr}`));
        else resolve(`${stdout}${stderr}`);
      });
      child.stdin?.end();
    });
  }
}

/** A module's imports and constants as variables, which may be declared twice. */
const redeclarable = (block: string): string =>
  block
    .replaceAll(
      /^import (\{[^}]*\}) from ('[^']*');$/gm,
      (_, names: string, from: string) => `var ${names.replaceAll(' as ', ': ')} = await import(${from});`,
    )
    .replaceAll(/^import (\w+) from ('[^']*');$/gm, 'var { default: $1 } = await import($2);')
    .replaceAll(/^(?:const|let) /gm, 'var ');
