import { walkProviders } from './walk.js';

walkProviders(3, 4);
