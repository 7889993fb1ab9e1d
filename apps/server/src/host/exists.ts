import { access } from 'node:fs/promises';

/** Whether the path exists, as far as this process may see. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
