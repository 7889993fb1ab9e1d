import { Link } from '@tanstack/react-router';
import { ChevronRight, House } from 'lucide-react';
import { visibleName } from '../../../components/words/visible-text.ts';
import { nameOf, stepsTo } from './file-paths.ts';
import { filesRoute } from '../routes.ts';

/** The way to a folder or a file. Each step leads to its folder. */
export function Breadcrumbs({ path, isFile }: { path: string; isFile: boolean }) {
  const steps = stepsTo(path);
  return (
    <nav aria-label="Folder" className="min-w-0">
      <ol className="flex flex-wrap items-center gap-1">
        <li>
          <Link
            from={filesRoute.fullPath}
            search={{}}
            aria-current={steps.length === 0 ? 'page' : undefined}
            className="inline-flex h-7 items-center gap-1.5 rounded-control px-1.5 hover:bg-hover"
          >
            <House aria-hidden className="size-4 text-muted" />
            workspace
          </Link>
        </li>
        {steps.map((step, index) => (
          <li key={step} className="flex min-w-0 items-center gap-1">
            <ChevronRight aria-hidden className="size-3.5 shrink-0 text-muted" />
            {index === steps.length - 1 ? (
              <span aria-current="page" className="px-1.5 font-medium wrap-anywhere">
                <bdi>{visibleName(nameOf(step))}</bdi>
                {!isFile && <span className="sr-only">, folder</span>}
              </span>
            ) : (
              <Link
                from={filesRoute.fullPath}
                search={{ path: step }}
                className="rounded-control px-1.5 py-1 wrap-anywhere hover:bg-hover"
              >
                <bdi>{visibleName(nameOf(step))}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
