import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { Moon, Play, RotateCw, Square, Sun } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { change, lodge } from '../../api.ts';
import { toast } from '../../components/toasts/toasts.tsx';
import { agentQuery } from './queries.ts';
import { verbWords } from './verbs.ts';
import type { Verb } from './verbs.ts';

export const verbIcons: Readonly<Record<Verb, LucideIcon>> = {
  start: Play,
  resume: Sun,
  pause: Moon,
  stop: Square,
  restart: RotateCw,
};

/** Does something with an agent's machine, and tells when it is done. */
export function useAct(agent: Pick<Agent, 'id' | 'name'>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (verb: Verb) => change(() => lodge.agents[verb](agent.id, {})),
    onSuccess: (now, verb) => {
      queryClient.setQueryData(agentQuery(agent.id).queryKey, now);
      toast(`${agent.name} ${verbWords[verb].done}.`);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['agents'] }),
  });
}
