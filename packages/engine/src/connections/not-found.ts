import { Refusal } from '@lodge/domain';

export const noConnection = (): Refusal => new Refusal('connection_not_found', 'The agent has no such connection.');
