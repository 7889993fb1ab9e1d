import { hermes } from './subjects.ts';
import { conform } from './suite.ts';

conform(hermes);
