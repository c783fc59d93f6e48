import { walkProviders } from './walk.js';

walkProviders(1, 4);
