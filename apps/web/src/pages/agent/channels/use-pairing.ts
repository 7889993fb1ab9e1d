import type { Pairing } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { lodge, read } from '../../../api.ts';

export interface PairingState {
  /** Undefined: none is under way. */
  readonly pairing: Pairing | undefined;
  readonly error: unknown;
  readonly isOn: boolean;
  readonly begin: (phoneNumber?: string) => void;
}

/** Pairs WhatsApp while the page is there: each state as it comes, codes among them. */
export function usePairing(agentId: string): PairingState {
  const queryClient = useQueryClient();
  const [pairing, setPairing] = useState<Pairing>();
  const [error, setError] = useState<unknown>();
  const [isOn, setOn] = useState(false);
  const under = useRef<AbortController>(undefined);
  useEffect(() => () => under.current?.abort(), []);

  const follow = async (signal: AbortSignal, phoneNumber: string | undefined): Promise<void> => {
    const body = phoneNumber === undefined ? {} : { phone_number: phoneNumber };
    const states = lodge.channels.pairWhatsApp(agentId, body, { signal });
    try {
      for (;;) {
        const { done, value } = await read(states.next());
        if (signal.aborted || done === true) break;
        setPairing(value);
      }
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
    if (signal.aborted) return;
    setOn(false);
    await queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'channels'] });
  };

  const begin = (phoneNumber?: string): void => {
    under.current?.abort();
    const control = new AbortController();
    under.current = control;
    setError(undefined);
    setPairing(undefined);
    setOn(true);
    void follow(control.signal, phoneNumber);
  };
  return { pairing, error, isOn, begin };
}
