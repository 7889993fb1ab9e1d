import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { Notice } from '../../../../components/notice.tsx';
import { toast } from '../../../../components/toasts/toasts.tsx';
import { explain } from '../../../../messages.ts';
import { DownloadRefused, downloadFolder } from './download-folder.ts';
import type { ZipProgress } from './download-folder.ts';
import { formatSize, nameOf } from '../file-paths.ts';

interface DownloadProps {
  readonly agentId: string;
  readonly path: string;
  readonly label: string;
  readonly Icon: LucideIcon;
}

/** Downloads a folder as a ZIP, tells how far it is, and stops it. */
export function FolderDownload({ agentId, path, label, Icon }: DownloadProps) {
  const [progress, setProgress] = useState<ZipProgress | 'listing'>();
  const [problem, setProblem] = useState<string>();
  const over = useRef<AbortController>(undefined);
  useEffect(() => () => over.current?.abort(), []);

  const run = async (): Promise<void> => {
    const controller = (over.current = new AbortController());
    setProblem(undefined);
    setProgress('listing');
    try {
      await downloadFolder(agentId, path, { signal: controller.signal, onProgress: calm(setProgress) });
      toast(`${nameOf(path) || 'The workspace'} is downloaded.`);
    } catch (error) {
      // An abort is the person's own, here or in the browser's question where to save.
      const isOwn = controller.signal.aborted || (error instanceof DOMException && error.name === 'AbortError');
      if (!isOwn) setProblem(error instanceof DownloadRefused ? error.message : explain(error));
    } finally {
      setProgress(undefined);
    }
  };

  return (
    <>
      {progress === undefined ? (
        <Button small onClick={() => void run()}>
          <Icon aria-hidden className="size-4" />
          {label}
        </Button>
      ) : (
        <span className="flex items-center gap-2 text-[0.8125rem] text-muted">
          <span role="status">
            {progress === 'listing'
              ? 'Reading the folder…'
              : `Packing, ${formatSize(progress.bytes)} of ${formatSize(progress.allBytes)}`}
          </span>
          <Button small variant="ghost" onClick={() => over.current?.abort()}>
            Stop
          </Button>
        </span>
      )}
      {problem !== undefined && (
        <div className="basis-full">
          <Notice kind="error" alert>
            {problem}
          </Notice>
        </div>
      )}
    </>
  );
}

const toldEveryMs = 200;

/** Passes on the first call, and then one from time to time. */
function calm<T>(tell: (value: T) => void): (value: T) => void {
  let last = -Infinity;
  return (value) => {
    const now = performance.now();
    if (now - last < toldEveryMs) return;
    last = now;
    tell(value);
  };
}
