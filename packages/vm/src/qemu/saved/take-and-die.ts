/** A separate control plane for tests: it takes a template into a data folder and is killed after so many of its files. */
import { copyFile, linkFile } from '../host/take-file.ts';
import { OwnTemplates } from './own-templates.ts';
import { TemplateChecks } from './template-checks.ts';
import { TemplateStore } from './template-store.ts';

interface Settings {
  readonly cacheDir: string;
  readonly dataDir: string;
  readonly id: string;
  readonly how: 'links' | 'copies';
  readonly step: number;
}

const { cacheDir, dataDir, id, how, step } = JSON.parse(process.argv[2]!) as Settings;
const log = { debug() {}, info: die, warn() {}, error() {} };
const checks = new TemplateChecks();
const cache = new TemplateStore(cacheDir, { instance: 'one', dataDir }, checks);
let taken = 0;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function counted<T>(work: () => Promise<T>): Promise<T> {
  if (taken === step) die();
  taken += 1;
  return work();
}

const take = {
  linkFile: (from: string, to: string) =>
    how === 'links' ? counted(() => linkFile(from, to)) : Promise.resolve(false),
  copyFile: (from: string, to: string) => counted(() => copyFile(from, to)),
};
await new OwnTemplates(cache, { dataDir, diskFloorMib: 1, log, take }, checks).take(id);
