import { Check, Circle, LoaderCircle, X } from 'lucide-react';
import { visibleName } from '../../../components/words/visible-text.ts';
import type { Step } from './conversation.ts';

/** More steps than these are folded, once their turn is over. */
const unfolded = 4;

interface StepsProps {
  readonly steps: readonly Step[];
  /** Whether the turn goes on. A step without an end is then under way. */
  readonly running: boolean;
}

/** The uses of the agent's tools, in their order. */
export function Steps({ steps, running }: StepsProps) {
  const list = (
    <ul aria-label="Steps" className="flex flex-col gap-1">
      {steps.map((step) => (
        <StepLine key={step.id} step={step} running={running} />
      ))}
    </ul>
  );
  if (running || steps.length <= unfolded) return list;
  const failed = steps.filter(({ status }) => status === 'failed').length;
  return (
    <details className="text-[0.8125rem]">
      <summary className="w-fit rounded-control text-muted hover:text-ink">
        {steps.length} steps{failed > 0 && `, ${failed} failed`}
      </summary>
      <div className="pt-2">{list}</div>
    </details>
  );
}

function StepLine({ step: { tool, title, status }, running }: { step: Step; running: boolean }) {
  const { Icon, look, state } = lookOf(status, running);
  const words = visibleName(title ?? tool);
  return (
    <li className="flex min-w-0 items-center gap-2 text-[0.8125rem] text-muted">
      <Icon aria-hidden className={`size-3.5 shrink-0 ${look}`} />
      <span className="sr-only">{state}: </span>
      <bdi className="truncate" title={words}>
        {words}
      </bdi>
      {title !== undefined && (
        <bdi className="max-w-40 shrink-0 truncate font-mono text-xs max-sm:hidden">
          {visibleName(tool.slice(0, 40))}
        </bdi>
      )}
      {status === 'failed' && <span className="shrink-0 text-danger">failed</span>}
    </li>
  );
}

function lookOf(status: Step['status'], running: boolean) {
  switch (status) {
    case 'completed':
      return { Icon: Check, look: 'text-accent', state: 'Done' };
    case 'failed':
      return { Icon: X, look: 'text-danger', state: 'Failed' };
    case 'started':
      return running
        ? { Icon: LoaderCircle, look: 'animate-spin text-accent', state: 'Under way' }
        : { Icon: Circle, look: 'text-muted', state: 'Begun' };
  }
}
