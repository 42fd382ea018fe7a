/* task_sources.h - BibTeX of the works that tasks come from, an entry each. Tasks of one source put its name into their
 * `bibtex`; where an encoding or a map has the same work, its key is the same.
 */
#ifndef TASK_SOURCES_H
#define TASK_SOURCES_H

#define TASK_BIB_CHO                                                                                                   \
    "@inproceedings{cho2024position, title = {Position Coupling: Improving Length Generalization of Arithmetic "       \
    "Transformers Using Task Structure}, author = {Cho, Hanseul and Cha, Jaeyoung and Awasthi, Pranjal and "           \
    "Bhojanapalli, Srinadh and Gupta, Anupam and Yun, Chulhee}, booktitle = {Advances in Neural Information "          \
    "Processing Systems}, year = {2024}, eprint = {2405.20671}, archiveprefix = {arXiv}} "

#define TASK_BIB_DELETANG                                                                                              \
    "@inproceedings{deletang2023neural, title = {Neural Networks and the {Chomsky} Hierarchy}, author = "              \
    "{Del{\\'e}tang, Gr{\\'e}goire and Ruoss, Anian and Grau-Moya, Jordi and Genewein, Tim and Wenliang, Li Kevin "    \
    "and Catt, Elliot and Cundy, Chris and Hutter, Marcus and Legg, Shane and Veness, Joel and Ortega, Pedro A.}, "    \
    "booktitle = {International Conference on Learning Representations}, year = {2023}, eprint = {2207.02098}, "       \
    "archiveprefix = {arXiv}} "

#define TASK_BIB_DEVLIN                                                                                                \
    "@inproceedings{devlin2019bert, title = {{BERT}: Pre-training of Deep Bidirectional Transformers for Language "    \
    "Understanding}, author = {Devlin, Jacob and Chang, Ming-Wei and Lee, Kenton and Toutanova, Kristina}, booktitle " \
    "= {Proceedings of the 2019 Conference of the North {American} Chapter of the Association for Computational "      \
    "Linguistics: Human Language Technologies}, pages = {4171--4186}, year = {2019}} "

#define TASK_BIB_GOLOVNEVA                                                                                             \
    "@misc{golovneva2024contextual, title = {Contextual Position Encoding: Learning to Count What's Important}, "      \
    "author = {Golovneva, Olga and Wang, Tianlu and Weston, Jason and Sukhbaatar, Sainbayar}, year = {2024}, eprint "  \
    "= {2405.18719}, archiveprefix = {arXiv}} "

#define TASK_BIB_HEWITT                                                                                                \
    "@inproceedings{hewitt2020rnns, title = {{RNN}s Can Generate Bounded Hierarchical Languages with Optimal "         \
    "Memory}, author = {Hewitt, John and Hahn, Michael and Ganguli, Surya and Liang, Percy and Manning, Christopher "  \
    "D.}, booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing}, year " \
    "= {2020}} "

#define TASK_BIB_HSIEH                                                                                                 \
    "@inproceedings{hsieh2024ruler, title = {{RULER}: What's the Real Context Size of Your Long-Context Language "     \
    "Models?}, author = {Hsieh, Cheng-Ping and Sun, Simeng and Kriman, Samuel and Acharya, Shantanu and Rekesh, Dima " \
    "and Jia, Fei and Zhang, Yang and Ginsburg, Boris}, booktitle = {First Conference on Language Modeling}, year = "  \
    "{2024}, eprint = {2404.06654}, archiveprefix = {arXiv}} "

#define TASK_BIB_HUANG                                                                                                 \
    "@inproceedings{huang2025formal, title = {A Formal Framework for Understanding Length Generalization in "          \
    "Transformers}, author = {Huang, Xinting and Yang, Andy and Bhattamishra, Satwik and Sarrof, Yash and Krebs, "     \
    "Andreas and Zhou, Hattie and Nakkiran, Preetum and Hahn, Michael}, booktitle = {International Conference on "     \
    "Learning Representations}, year = {2025}, eprint = {2410.02140}, archiveprefix = {arXiv}} "

#define TASK_BIB_HUPKES                                                                                                \
    "@article{hupkes2020compositionality, title = {Compositionality Decomposed: How Do Neural Networks Generalise?}, " \
    "author = {Hupkes, Dieuwke and Dankers, Verna and Mul, Mathijs and Bruni, Elia}, journal = {Journal of "           \
    "Artificial Intelligence Research}, volume = {67}, pages = {757--795}, year = {2020}} "

#define TASK_BIB_KAZEMNEJAD                                                                                            \
    "@inproceedings{kazemnejad2023impact, title = {The Impact of Positional Encoding on Length Generalization in "     \
    "Transformers}, author = {Kazemnejad, Amirhossein and Padhi, Inkit and Natesan Ramamurthy, Karthikeyan and Das, "  \
    "Payel and Reddy, Siva}, booktitle = {Advances in Neural Information Processing Systems}, volume = {36}, year = "  \
    "{2023}, eprint = {2305.19466}, archiveprefix = {arXiv}} "

#define TASK_BIB_LAKE                                                                                                  \
    "@inproceedings{lake2018generalization, title = {Generalization without Systematicity: On the Compositional "      \
    "Skills of Sequence-to-Sequence Recurrent Networks}, author = {Lake, Brenden M. and Baroni, Marco}, booktitle = "  \
    "{Proceedings of the 35th International Conference on Machine Learning}, pages = {2873--2882}, year = {2018}} "

#define TASK_BIB_LIU                                                                                                   \
    "@inproceedings{liu2023exposing, title = {Exposing Attention Glitches with Flip-Flop Language Modeling}, author "  \
    "= {Liu, Bingbin and Ash, Jordan T. and Goel, Surbhi and Krishnamurthy, Akshay and Zhang, Cyril}, booktitle = "    \
    "{Advances in Neural Information Processing Systems}, volume = {36}, year = {2023}, eprint = {2306.00946}, "       \
    "archiveprefix = {arXiv}} "

#define TASK_BIB_MOHTASHAMI                                                                                            \
    "@inproceedings{mohtashami2023landmark, title = {Random-Access Infinite Context Length for Transformers}, author " \
    "= {Mohtashami, Amirkeivan and Jaggi, Martin}, booktitle = {Advances in Neural Information Processing Systems}, "  \
    "volume = {36}, year = {2023}, eprint = {2305.16300}, archiveprefix = {arXiv}} "

#define TASK_BIB_NYE                                                                                                   \
    "@misc{nye2021show, title = {Show Your Work: Scratchpads for Intermediate Computation with Language Models}, "     \
    "author = {Nye, Maxwell and Andreassen, Anders Johan and Gur-Ari, Guy and Michalewski, Henryk and Austin, Jacob "  \
    "and Bieber, David and Dohan, David and Lewkowycz, Aitor and Bosma, Maarten and Luan, David and Sutton, Charles "  \
    "and Odena, Augustus}, year = {2021}, eprint = {2112.00114}, archiveprefix = {arXiv}} "

#define TASK_BIB_OLSSON                                                                                                \
    "@misc{olsson2022context, title = {In-context Learning and Induction Heads}, author = {Olsson, Catherine and "     \
    "Elhage, Nelson and Nanda, Neel and Joseph, Nicholas and DasSarma, Nova and others}, howpublished = {Transformer " \
    "Circuits Thread}, year = {2022}, eprint = {2209.11895}, archiveprefix = {arXiv}} "

#define TASK_BIB_PRESS                                                                                                 \
    "@inproceedings{press2022train, title = {Train Short, Test Long: Attention with Linear Biases Enables Input "      \
    "Length Extrapolation}, author = {Press, Ofir and Smith, Noah A. and Lewis, Mike}, booktitle = {International "    \
    "Conference on Learning Representations}, year = {2022}, eprint = {2108.12409}, archiveprefix = {arXiv}} "

#define TASK_BIB_RUOSS                                                                                                 \
    "@inproceedings{ruoss2023randomized, title = {Randomized Positional Encodings Boost Length Generalization of "     \
    "Transformers}, author = {Ruoss, Anian and Del{\\'e}tang, Gr{\\'e}goire and Genewein, Tim and Grau-Moya, Jordi "   \
    "and Csord{\\'a}s, R{\\'o}bert and Bennani, Mehdi and Legg, Shane and Veness, Joel}, booktitle = {Proceedings of " \
    "the 61st Annual Meeting of the Association for Computational Linguistics (Volume 2: Short Papers)}, pages = "     \
    "{1889--1903}, year = {2023}, eprint = {2305.16843}, archiveprefix = {arXiv}} "

#define TASK_BIB_YAO                                                                                                   \
    "@inproceedings{yao2021self, title = {Self-Attention Networks Can Process Bounded Hierarchical Languages}, "       \
    "author = {Yao, Shunyu and Peng, Binghui and Papadimitriou, Christos and Narasimhan, Karthik}, booktitle = "       \
    "{Proceedings of the 59th Annual Meeting of the Association for Computational Linguistics}, year = {2021}} "

#define TASK_BIB_ZHANG                                                                                                 \
    "@misc{zhang2022unveiling, title = {Unveiling Transformers with {LEGO}: A Synthetic Reasoning Task}, author = "    \
    "{Zhang, Yi and Backurs, Arturs and Bubeck, S{\\'e}bastien and Eldan, Ronen and Gunasekar, Suriya and Wagner, "    \
    "Tal}, year = {2022}, eprint = {2206.04301}, archiveprefix = {arXiv}} "

#define TASK_BIB_ZHOU                                                                                                  \
    "@misc{zhou2024transformers, title = {Transformers Can Achieve Length Generalization But Not Robustly}, author = " \
    "{Zhou, Yongchao and Alon, Uri and Chen, Xinyun and Wang, Xuezhi and Agarwal, Rishabh and Zhou, Denny}, year = "   \
    "{2024}, eprint = {2402.09371}, archiveprefix = {arXiv}} "

#endif
