import { Play, Square, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { Button, IconButton } from '../../components/button.tsx';
import { formatNumber } from '../../format.ts';
import { countOf, isFor } from './bulk.ts';
import type { BulkVerb } from './bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';

interface BulkBarProps {
  readonly chosen: readonly Agent[];
  readonly clear: () => void;
  readonly mayWrite: boolean;
  readonly mayDelete: boolean;
}

/** The actions on the chosen agents. It floats over the end of the list, which does not move for it. */
export function BulkBar({ chosen, clear, mayWrite, mayDelete }: BulkBarProps) {
  const [work, setWork] = useState<{ readonly verb: BulkVerb; readonly agents: readonly Agent[] }>();
  const button = (verb: BulkVerb, label: string, Icon: typeof Play) => {
    const agents = chosen.filter((agent) => isFor(verb, agent));
    return (
      <Button
        small
        variant={verb === 'delete' ? 'ghost-danger' : 'secondary'}
        aria-label={`${label} ${countOf(agents.length)}`}
        disabled={agents.length === 0}
        onClick={() => setWork({ verb, agents })}
        className="disabled:cursor-default disabled:opacity-50 max-sm:px-2"
      >
        <Icon aria-hidden className="size-3.5" />
        {label}
        {agents.length < chosen.length && agents.length > 0 && <span aria-hidden>({formatNumber(agents.length)})</span>}
      </Button>
    );
  };
  return (
    <>
      {chosen.length > 0 && (
        <section
          aria-label="Selected agents"
          className="fixed inset-x-0 bottom-4 z-20 flex justify-center px-3 lg:left-60"
        >
          <div className="flex animate-rise items-center gap-1.5 rounded-card border border-line bg-raised py-2 pr-2 pl-3 shadow-float sm:gap-2 sm:pl-4">
            <span role="status" className="pr-1 font-medium whitespace-nowrap tabular-nums sm:pr-2">
              {formatNumber(chosen.length)} selected
            </span>
            {mayWrite && button('start', 'Start', Play)}
            {mayWrite && button('stop', 'Stop', Square)}
            {mayDelete && button('delete', 'Delete', Trash2)}
            <IconButton label="Clear the selection" onClick={clear} className="size-8">
              <X aria-hidden className="size-4" />
            </IconButton>
          </div>
        </section>
      )}
      {work !== undefined && (
        // It stays while its agents leave the list.
        <BulkDialog
          verb={work.verb}
          agents={work.agents}
          onClose={(isDone) => {
            setWork(undefined);
            if (isDone) clear();
          }}
        />
      )}
    </>
  );
}
