/** Paths in a workspace: names with slashes between, and none at either end. */

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** Returns the folders on the way to a path, outermost first, and the path itself last. */
export function stepsTo(path: string): readonly string[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Returns what is wrong with a name for a new file or folder, if anything. */
export function problemOf(name: string): string | undefined {
  if (name.trim() === '') return 'Enter a name.';
  if (name === '.' || name === '..') return 'A name cannot be . or .. alone.';
  if (name.includes('/')) return 'A name has no slash in it.';
  if (new TextEncoder().encode(name).length > 255) return 'This name is too long.';
  return undefined;
}

/** Returns the address at which the browser downloads a file by itself, as it comes. */
export const downloadAddress = (agentId: string, path: string): string =>
  `/v1/agents/${encodeURIComponent(agentId)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatSize(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  const unit = step === 0 && bytes === 1 ? 'byte' : units[step];
  return `${step === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}
