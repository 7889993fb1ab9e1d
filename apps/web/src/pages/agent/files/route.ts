import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { FolderTree } from 'lucide-react';
import { agentRoute } from '../route.ts';

export interface FilesSearch {
  /** The folder that is shown; the workspace itself without one. */
  readonly path?: string;
  /** The file that is open. */
  readonly file?: string;
  /** `source`: a file that has a preview is shown as text. */
  readonly view?: 'source';
}

const maxPath = 4096;

export const filesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'files',
  staticData: { nav: { group: 'Machine', label: 'Files', Icon: FolderTree } },
  validateSearch: ({ path, file, view }: Readonly<Record<string, unknown>>): FilesSearch => ({
    ...(isPath(path) && { path }),
    ...(isPath(file) && { file }),
    ...(view === 'source' && { view }),
  }),
  component: lazyPage(() => import('./files-page.tsx'), 'FilesPage'),
});

/** A path that the API can be asked for: it has no empty names, and none that leads elsewhere. */
const isPath = (path: unknown): path is string =>
  typeof path === 'string' &&
  path.length <= maxPath &&
  path.split('/').every((name) => !['', '.', '..'].includes(name));
