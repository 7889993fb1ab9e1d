import { runRelay } from './run-relay.ts';

runRelay();
