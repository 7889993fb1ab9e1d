import { randomBytes, randomInt } from 'node:crypto';
import { makeAgentId } from '@lodge/domain';
import { noDelivery } from '@lodge/ports';
import type { NewHook, NewHookMessage } from '@lodge/ports';

export const hookId = (): string => makeAgentId(randomInt);

export const newHook = (given: Partial<NewHook> = {}): NewHook => ({
  name: 'H',
  tokenHash: randomBytes(32),
  last4: 'abcd',
  template: null,
  conversation: null,
  deliver: noDelivery,
  signature: null,
  ...given,
});

export const sent = (given: Partial<NewHookMessage> = {}): NewHookMessage => ({
  deliveryId: null,
  event: null,
  text: '{"a":1}',
  isCut: false,
  ...given,
});
