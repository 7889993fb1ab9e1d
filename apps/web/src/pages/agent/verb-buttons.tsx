import type { Agent } from '@lodge/sdk';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { useAct, verbIcons } from './use-act.ts';
import { verbWords, verbsOf } from './verbs.ts';

/** The verbs that make sense now. */
export function VerbButtons({ agent }: { agent: Agent }) {
  const act = useAct(agent);
  const verbs = verbsOf(agent);
  return (
    <div className="flex flex-col items-end gap-2">
      <div role="group" aria-label="Machine" className="flex flex-wrap gap-2">
        {verbs.map((verb) => {
          const Icon = verbIcons[verb];
          return (
            <Button
              key={verb}
              small
              title={verbWords[verb].hint}
              variant={verb === 'start' || verb === 'resume' ? 'primary' : 'secondary'}
              pending={act.isPending && act.variables === verb}
              onClick={() => act.mutate(verb)}
            >
              <Icon aria-hidden className="size-4" />
              {verbWords[verb].label}
            </Button>
          );
        })}
      </div>
      <Failure error={act.error} />
    </div>
  );
}
